import fc from 'fast-check'
import t from 'tap'
import {
  type XmlElement, type XmlNode, XmlError, createXmlElement, parseXml, parseXmlFragment, readXmlRecords, renderXml,
  xmlChildren, xmlText
} from '../src/xml/index.ts'

async function * chunksOf (text: string, size: number): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size)
}

function refusal (read: () => unknown): XmlError {
  try {
    read()
  } catch (err) {
    if (err instanceof XmlError) return err
    throw err
  }
  throw new Error('nothing was refused')
}

t.test('elements, attributes and text are parsed in order', async (t) => {
  const [game] = parseXml('<?xml version="1.0"?>\n<game id="7" b="2" a="1">\n <name>Salt &amp; &#x50;epper</name> <desc/></game>')
  t.same(Object.keys(game?.attributes ?? {}), ['id', 'b', 'a'])
  t.same(game?.children, [
    { type: 'element', name: 'name', attributes: {}, children: [{ type: 'text', text: 'Salt & Pepper' }] },
    { type: 'element', name: 'desc', attributes: {}, children: [] }
  ])
})

t.test('several roots are accepted, and an empty text has none', async (t) => {
  const text = '<?xml version="1.0"?>\n<alternativeEmulator><label>x</label></alternativeEmulator>\n<gameList/>\n'
  t.same(parseXml(text).map((root) => root.name), ['alternativeEmulator', 'gameList'])
  for (const empty of ['', ' \n', '\uFEFF', '<?xml version="1.0"?>', '<!-- nothing -->']) t.same(parseXml(empty), [], empty)
  t.match(parseXml('\uFEFF<?xml version="1.0" encoding="UTF-8"?><a/>'), [{ name: 'a' }])
})

t.test('text and children of an element are found by name', async (t) => {
  const [game] = parseXml('<game><name> A<!-- c --><![CDATA[ & B]]> </name><tag>1</tag><tag>2</tag></game>')
  t.ok(game)
  if (game === undefined) return
  t.same(xmlChildren(game, 'tag').map(xmlText), ['1', '2'])
  t.equal(xmlChildren(game).length, 3)
  t.same(xmlChildren(game, 'name').map(xmlText), ['A & B'])
})

t.test('chunks of any size yield the same result as the whole text', async (t) => {
  const text = '<?xml version="1.0"?>\r\n<a x="&lt;">é🎮<b>t&amp;t</b><!--c--></a><d/>'
  for (const size of [1, 2, 3, 7, 1000]) t.same(await parseXml(chunksOf(text, size)), parseXml(text), `${size}`)
  await t.rejects(parseXml(chunksOf('<a>\n<b>', 2)), { name: 'XmlError' })
})

t.test('a document type is refused before anything is expanded', async (t) => {
  const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('\n')
  const attacks = [
    `<!DOCTYPE l [<!ENTITY l0 "ha">${laughs}]><l>&l9;</l>`,
    '<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>',
    '<!DOCTYPE x [<!ENTITY e SYSTEM "http://attacker.example/">]><x>&e;</x>',
    '<!DOCTYPE gameList><gameList/>'
  ]
  for (const attack of attacks) {
    t.match(refusal(() => parseXml(attack)).message, /^the XML text, line 1: a DOCTYPE is not accepted; remove it$/)
  }
})

t.test('an entity that XML does not define is refused', async (t) => {
  const error = refusal(() => parseXml('<a>\n &xxe;</a>', { source: 'roms/snes/gamelist.xml' }))
  t.equal(error.line, 2)
  t.match(error.message, /^roms\/snes\/gamelist\.xml, line 2: not well-formed, undefined entity; correct it/)
})

t.test('text that is not well-formed is refused with its line', async (t) => {
  const broken: [string, RegExp][] = [
    ['<a>\n<b></a>', /line 2: .*unexpected close tag/],
    ['<a>', /line 1: .*unclosed tag: a/],
    ['</a>', /unmatched closing tag/],
    ['<a x="1" x="2"/>', /duplicate attribute/],
    ['<a>&#0;</a>', /character entity/],
    ['<a>\u0001</a>', /disallowed character/],
    ['stray<a/>', /text outside of any element/],
    ['<a/>stray', /text outside of any element/],
    ['<a/><?xml version="1.0"?>', /XML declaration/],
    ['<a', /unclosed|unexpected end/]
  ]
  for (const [text, message] of broken) t.match(refusal(() => parseXml(text)).message, message, text)
})

t.test('size, depth, text and number of elements have limits', async (t) => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  t.equal(parseXml(nested(32)).length, 1)
  t.match(refusal(() => parseXml(nested(33))).message, /nested more than 32 deep/)
  t.match(refusal(() => parseXml('<a>'.repeat(100_000))).message, /nested more than 32 deep/)

  const mebi = 1024 * 1024
  t.equal(parseXml(`<a>${'x'.repeat(mebi)}</a>`).length, 1)
  t.match(refusal(() => parseXml(`<a>${'x'.repeat(mebi + 1)}</a>`)).message, /"a" has more than 1048576 characters/)
  t.match(refusal(() => parseXml(`<a>${'<![CDATA[xxxxxxxx]]>'.repeat(mebi / 8 + 1)}</a>`)).message, /"a" has more/)
  t.match(refusal(() => parseXml(`<a x="${'x'.repeat(mebi + 1)}"/>`)).message, /attribute "x" has more/)
  t.match(refusal(() => parseXml(`<!--${'x'.repeat(mebi + 1)}--><a/>`)).message, /comment has more/)

  t.match(refusal(() => parseXml('é', { maxBytes: 1 })).message, /larger than 1 bytes/)
  t.match(refusal(() => parseXml(`<a>${' '.repeat(64 * mebi)}</a>`)).message, /larger than 67108864 bytes/)
  t.match(refusal(() => parseXml('<a><b/><b/><b/></a>', { maxNodes: 3 })).message, /more than 3 elements/)
})

t.test('an endless stream is cut off', async (t) => {
  let chunks = 0
  async function * endless () {
    for (;;) {
      chunks++
      yield chunks === 1 ? '<a>' : '<b>text</b>'.repeat(1000)
    }
  }
  await t.rejects(parseXml(endless(), { maxBytes: 100_000 }), /larger than 100000 bytes/)
  t.ok(chunks < 12)
})

t.test('records are yielded one by one, without other content', async (t) => {
  const text = '<?xml version="1.0"?><LaunchBox><Game><Name>A</Name></Game><!-- c --><Game><Name>B</Name></Game></LaunchBox>'
  const names: string[] = []
  for await (const record of readXmlRecords(chunksOf(text, 5), { maxNodes: 6 })) {
    t.equal(record.name, 'Game')
    names.push(...xmlChildren(record, 'Name').map(xmlText))
  }
  t.same(names, ['A', 'B'])
  await t.rejects(async () => {
    for await (const record of readXmlRecords(chunksOf('<a><b/><b>', 3))) t.equal(record.name, 'b')
  }, { name: 'XmlError' })
})

t.test('parsed XML is written back unchanged', async (t) => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- by hand -->
<alternativeEmulator>
  <label>x</label>
</alternativeEmulator>
<gameList parentHash="a&amp;b&#10;c">
  <provider>
    <System>SNES</System>
  </provider>
  <game id="7">
    <name>Salt &amp; &lt;Pepper&gt; <![CDATA[<raw> & so]]></name>
    <!-- mine -->
    <desc>Line one
  Line two </desc>
    <blank>  </blank>
    <mixed>a <b>c</b> d</mixed>
    <empty/>
  </game>
  <?app keep this?>
</gameList>
`
  t.equal(renderXml(parseXmlFragment(text), { declaration: true }), text)
})

t.test('text is escaped, and characters that XML forbids are stripped', async (t) => {
  t.equal(renderXml(createXmlElement('a', 'x < y & "z"\r\n\0\u001f\uFFFE\uD800end', { q: '"<\t\n' })),
    '<a q="&quot;&lt;&#9;&#10;">x &lt; y &amp; "z"\nend</a>\n')
  t.equal(renderXml({ type: 'comment', text: 'a--b-' }), '<!--a- -b- -->\n')
  t.equal(renderXml({ type: 'text', text: ']]>', cdata: true }), '<![CDATA[]]]]><![CDATA[>]]>\n')
  t.equal(renderXml(createXmlElement('a', [createXmlElement('b')]), { indent: '\t' }), '<a>\n\t<b/>\n</a>\n')
})

t.test('a name that would change the markup is refused', async (t) => {
  for (const name of ['', 'a b', '1a', 'a>', 'a"', '-a']) {
    t.throws(() => renderXml(createXmlElement(name)), { name: 'XmlError' }, name)
    t.throws(() => renderXml(createXmlElement('a', [], { [name]: '' })), { name: 'XmlError' }, name)
  }
  t.equal(renderXml(createXmlElement('ns:näme-1.2')), '<ns:näme-1.2/>\n')
})

const nameOf = fc.stringMatching(/^[a-zA-Z_][a-z0-9._-]{0,8}$/)
// Characters that XML preserves: no CR, and none that XML forbids.
const textOf = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) =>
  // eslint-disable-next-line no-control-regex
  text.isWellFormed() && !/[\0-\x08\x0B-\x1F\uFFFE\uFFFF]/.test(text))
const { element } = fc.letrec<{ element: XmlElement }>((tie) => ({
  element: fc.record({
    type: fc.constant('element' as const),
    name: nameOf,
    attributes: fc.dictionary(nameOf, textOf, { maxKeys: 3, noNullPrototype: true }),
    children: fc.oneof(
      { maxDepth: 4 },
      textOf.map((text): XmlNode[] => [{ type: 'text', text }]),
      fc.array(tie('element'), { maxLength: 4 }))
  })
}))

t.test('everything written can be parsed again', async (t) => {
  fc.assert(fc.property(element, (root) => {
    t.same(parseXml(renderXml(root, { declaration: true })), [root])
  }), { numRuns: 100 })
})

t.test('writing parsed XML changes nothing the second time', async () => {
  const part = fc.oneof(textOf.map((text): XmlNode => ({ type: 'text', text })), element,
    textOf.map((text): XmlNode => ({ type: 'comment', text })))
  fc.assert(fc.property(fc.array(part, { maxLength: 5 }), (children) => {
    const once = renderXml(parseXmlFragment(renderXml(createXmlElement('root', children))))
    return renderXml(parseXmlFragment(once)) === once
  }))
})

t.test('any text yields elements or an XmlError', async () => {
  const pieces = fc.constantFrom('<a>', '</a>', '<a/>', '<', '>', '&', '&amp;', '&#9;', '<!--', '-->', '<![CDATA[', ']]>', '<?',
    '?>', '<?xml version="1.0"?>', '<!DOCTYPE', '"', 'x="1"', '\n', '\0', 'text', '\uD800')
  fc.assert(fc.property(fc.array(pieces).map((parts) => parts.join('')), (text) => {
    try {
      return Array.isArray(parseXml(text))
    } catch (err) {
      return err instanceof XmlError
    }
  }), { numRuns: 1000 })
})
