import fc from 'fast-check'
import t from 'tap'
import {
  isFields, parseJson, readDate, readFields, readHtml, readId, readInteger, readNames, readNumber, readNumeric,
  readRating, readText, readTexts, readUrl, toFieldsList, unique, withoutEmpty, youtubeVideoId
} from '../src/readers/index.ts'

t.test('a value is read only if it has the requested type', async (t) => {
  const fields = { text: '  a ', empty: ' ', number: 1.5, whole: 7, id: '42', bad: '4x', zero: 0, object: { a: 1 }, list: [1] }
  t.equal(readText(fields, 'text'), 'a')
  t.equal(readText(fields, 'empty'), undefined)
  t.equal(readText(fields, 'number'), undefined)
  t.equal(readNumber(fields, 'number'), 1.5)
  t.equal(readNumber(fields, 'id'), undefined)
  t.equal(readInteger(fields, 'whole'), 7)
  t.equal(readInteger(fields, 'number'), undefined)
  t.equal(readId(fields, 'id'), 42)
  t.equal(readId(fields, 'bad'), undefined)
  t.equal(readId(fields, 'zero'), undefined)
  t.same(readFields(fields, 'object'), { a: 1 })
  t.equal(readFields(fields, 'list'), undefined)
})

t.test('objects are read from a list and from an object keyed by ids', async (t) => {
  t.same(toFieldsList([{ a: 1 }, 2, null]), [{ a: 1 }])
  t.same(toFieldsList({ 7: { a: 1 }, 8: 'x' }), [{ a: 1 }])
  t.same(toFieldsList('x'), [])
  t.same(readNames({ genres: [{ name: 'B' }, { name: 'A' }, { name: 'B' }, {}] }, 'genres'), ['B', 'A'])
  t.same(unique(['b', undefined, 'b', 'a']), ['b', 'a'])
})

t.test('a number may be text, and a rating is scaled to 0 to 100', async (t) => {
  const fields = { text: ' 8.25 ', number: 8.25, empty: '', word: 'x', hex: {}, infinite: 'Infinity', zero: '0', third: 1 }
  t.equal(readNumeric(fields, 'text'), 8.25)
  t.equal(readNumeric(fields, 'number'), 8.25)
  for (const key of ['empty', 'word', 'hex', 'infinite', 'missing']) t.equal(readNumeric(fields, key), undefined, key)
  t.equal(readRating(fields, 'text', 10), 82.5)
  t.equal(readRating({ stars: 4.35 }, 'stars', 5), 87)
  t.equal(readRating(fields, 'third', 3), 33.3333)
  t.equal(readRating(fields, 'zero', 10), undefined, 'not rated')
  t.equal(readRating(fields, 'number', 5), undefined, 'above the best')
  t.equal(readRating({ stars: -1 }, 'stars', 5), undefined)
})

t.test('dates, HTML and lists of texts are read in one step', async (t) => {
  const fields = { released: '1992-11', text: '<p>Sail &amp; trade</p>', blank: '<p> </p>', genres: ['b', ' a ', 7, '', 'b'], one: 'b' }
  t.same(readDate(fields, 'released'), { at: Date.UTC(1992, 10, 1), precision: 'month' })
  t.equal(readDate(fields, 'genres'), undefined)
  t.equal(readHtml(fields, 'text'), 'Sail & trade')
  t.equal(readHtml(fields, 'blank'), undefined)
  t.same(readTexts(fields, 'genres'), ['b', 'a'])
  t.same(readTexts(fields, 'one'), [])
})

t.test('readUrl accepts web addresses only, also without a scheme', async (t) => {
  const addresses: [unknown, string | undefined][] = [
    [' https://pictures.example/a.png ', 'https://pictures.example/a.png'],
    ['//pictures.example/a.png', 'https://pictures.example/a.png'],
    ['HTTPS://pictures.example/a.png', 'HTTPS://pictures.example/a.png'],
    ['http://pictures.example/a.png', 'http://pictures.example/a.png'], ['ftp://pictures.example/a.png', undefined],
    ['javascript:alert(1)', undefined],
    ['/a.png', undefined],
    ['https://', undefined],
    [['https://pictures.example/a.png'], undefined]
  ]
  for (const [url, read] of addresses) t.equal(readUrl({ url }, 'url'), read, String(url))
  t.equal(readUrl({}, 'url'), undefined)
})

t.test('a video id is found in every YouTube URL and in no other URL', async (t) => {
  for (const path of ['www.youtube.com/watch?v=', 'm.youtube.com/watch?list=x&v=', 'youtu.be/', 'youtube.com/embed/',
    'www.youtube.com/shorts/', 'www.youtube.com/live/', 'www.youtube-nocookie.com/embed/']) {
    t.equal(youtubeVideoId(`https://${path}AbCdEfGh-_K#t=1`), 'AbCdEfGh-_K', path)
  }
  for (const url of ['https://www.youtube.com/@harbor', 'https://demo.example/?u=https://youtu.be/AbC', 'youtu.be/AbC', '']) {
    t.equal(youtubeVideoId(url), undefined, url)
  }
})

t.test('reading never throws, whatever a response holds', async () => {
  fc.assert(fc.property(fc.anything(), fc.string(), (value, key) => {
    const fields = isFields(value) ? value : { [key]: value }
    const readers = [
      readText, readNumber, readInteger, readId, readFields, readNames, readNumeric, readDate, readHtml, readTexts,
      readUrl
    ]
    for (const read of readers) read(fields, key)
    const rating = readRating(fields, key, 5)
    if (rating !== undefined && !(rating >= 0 && rating <= 100)) throw new Error(`a rating of ${rating}`)
    toFieldsList(value)
  }))
})

t.test('text that is not JSON returns undefined', async (t) => {
  t.same([parseJson('{"a":1}'), parseJson('null'), parseJson('<html>'), parseJson('')], [{ a: 1 }, null, undefined, undefined])
})

t.test('withoutEmpty removes undefined values and empty lists', async (t) => {
  t.strictSame(withoutEmpty({ a: undefined, b: [], c: 0, d: '', e: null, f: [1] }), { c: 0, d: '', e: null, f: [1] })
})
