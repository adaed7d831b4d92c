import fc from 'fast-check'
import t from 'tap'
import { toPlainText } from '../src/readers/index.ts'

t.test('paragraphs, line breaks and lists keep their lines; tags and entities go', async (t) => {
  t.equal(toPlainText('<h2>Harbor</h2><p>One &amp; two<br>three</p><p>four&nbsp;<b>bold</b></p>'),
    'Harbor\n\nOne & two\nthree\n\nfour bold')
  t.equal(toPlainText('<ul><li>a</li><li>b</li></ul>').replaceAll(' ', ''), '*a\n*b')
})

t.test('a link keeps its words; pictures, scripts and styles are removed', async (t) => {
  t.equal(toPlainText('<a href="https://games.example">more</a><img src="x.png" alt="box">'), 'more')
  t.equal(toPlainText('<script>alert(1)</script><style>b {}</style>text'), 'text')
})

t.test('plain text keeps its lines and decodes entities', async (t) => {
  t.equal(toPlainText('Tom &#39;n&#39; Jerry\nsail: 1 < 2'), "Tom 'n' Jerry\nsail: 1 < 2")
})

t.test('paragraphs of plain text survive inline marks', async (t) => {
  t.equal(toPlainText('Sail a <i>chain</i> of islands.\n\nTrade &amp; <b>explore</b>.'), 'Sail a chain of islands.\n\nTrade & explore.')
  t.equal(toPlainText('<p>One\nline</p><p>another</p>'), 'One line\n\nanother')
  t.equal(toPlainText('One\nline<br>another'), 'One line\nanother')
})

/** Any character. The `binary` of fast-check would first build a table of all million characters. */
const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))

t.test('no tag survives, and any text is accepted', async () => {
  const part = fc.constantFrom('<p>', '</p>', '<b', '>', '&amp;', '&#x3c;', 'text', '<!--', '-->', '<a href="', '"')
  fc.assert(fc.property(fc.array(part, { maxLength: 30 }), (parts) => !/<\/?(?:p|b|a)>/.test(toPlainText(parts.join('')))))
  fc.assert(fc.property(fc.string({ unit: character }), (text) => typeof toPlainText(text) === 'string'))
})
