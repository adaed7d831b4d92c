import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { DatError, type DatFile, type DatGame, type DatHeader } from '../../../plugins/dats/parse/dat-types.ts'
import { openDat } from '../../../plugins/dats/parse/read-dat.ts'
import { DAT_END, renderDatGame, renderDatStart } from '../../../plugins/dats/parse/write-logiqx.ts'
import { datKey, isOlder } from '../../../plugins/dats/parse/dat-version.ts'
import { findPlatformSlugs } from '../../../plugins/dats/platform-names.ts'

interface Dat { header: DatHeader, games: DatGame[] }

/** Yields a text in pieces of a number of bytes, so that pieces end anywhere, also within a character. */
async function * cut (text: string | Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text)
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes)
}

async function read (text: string | Uint8Array, bytes = 65_536): Promise<Dat> {
  const { header, games } = await openDat(cut(text, bytes))
  const all: DatGame[] = []
  for await (const game of games) all.push(game)
  return { header, games: all }
}

const hex = (digits: number) => fc.oneof(fc.constant(''), fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`)))
// Names are trimmed, and characters that XML forbids become spaces or vanish.
const text = fc.string({ unit: 'grapheme', maxLength: 30 }).map((one) => one.replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '').trim())
const name = text.filter((one) => one !== '')
const orNull = (arbitrary: fc.Arbitrary<string>) => fc.option(arbitrary, { nil: null })

/** Makes objects that compare as equal to literals. */
const PLAIN = { noNullPrototype: true }

const file: fc.Arbitrary<DatFile> = fc.record({
  name,
  size: fc.option(fc.nat({ max: 2 ** 31 }), { nil: null }),
  crc: hex(8),
  md5: hex(32),
  sha1: hex(40),
  status: fc.constantFrom('good', 'verified', 'baddump', 'nodump'),
  merge: orNull(name),
  is_disk: fc.boolean()
}, PLAIN)
const dat: fc.Arbitrary<Dat> = fc.record({
  header: fc.record({ name: text, description: text, version: text, date: text, author: text }, PLAIN),
  games: fc.array(fc.record({
    name,
    clone_of: orNull(name),
    id: fc.constant(null),
    clone_of_id: fc.constant(null),
    files: fc.array(file, { minLength: 1, maxLength: 4 })
  }, PLAIN), { maxLength: 5 })
}, PLAIN)

const writeXml = ({ header, games }: Dat) => `${renderDatStart(header)}${games.map(renderDatGame).join('')}${DAT_END}`

const quote = (value: string) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`
const writeValues = (values: Record<string, string | null>) => Object.entries(values)
  .flatMap(([key, value]) => value === null || value === '' ? [] : [`${key} ${quote(value)}`]).join(' ')

function writeFile ({ size, status, is_disk: isDisk, ...rest }: DatFile): string {
  const values = { ...rest, size: size === null ? null : String(size), flags: status === 'good' ? null : status }
  return `\t${isDisk ? 'disk' : 'rom'} ( ${writeValues(values)} )\n`
}

function writeText ({ header, games }: Dat): string {
  const blocks = games.map(({ name, clone_of: parent, files }) =>
    `game (\n\t${writeValues({ name, cloneof: parent })}\n${files.map(writeFile).join('')})\n`)
  return `clrmamepro (\n\t${writeValues({ ...header })}\n)\n\n${blocks.join('\n')}`
}

t.test('a DAT in XML that is written and read again is the same', async (t) => {
  await fc.assert(fc.asyncProperty(dat, fc.integer({ min: 1, max: 200 }), async (given, bytes) => {
    assert.deepEqual(await read(writeXml(given), bytes), given)
  }), { numRuns: 100 })
  t.pass()
})

t.test('a DAT in the text format that is written and read again is the same', async (t) => {
  await fc.assert(fc.asyncProperty(dat, fc.integer({ min: 1, max: 200 }), async (given, bytes) => {
    assert.deepEqual(await read(writeText(given), bytes), given)
  }), { numRuns: 100 })
  t.pass()
})

t.test('no bytes make a parser throw anything but a DatError', async (t) => {
  const start = fc.constantFrom('<', '<datafile>', '<datafile><game name="x">', 'clrmamepro (', 'game ( rom ( name "', '<?xml version="1.0"?><!DOCTYPE ')
  const rest = fc.array(fc.constantFrom('<rom name="', '"', '(', ')', ' ', '\n', '&amp;', '&x;', '<![CDATA[', ']]>', '\\', '>', '/>', 'é', '\0', 'rom'))
  await fc.assert(fc.asyncProperty(start, rest, async (begin, parts) => {
    await read(begin + parts.join('')).catch((err: unknown) => {
      if (!(err instanceof DatError)) throw err
    })
  }), { numRuns: 500 })
  t.pass()
})

const LOGIQX = `<?xml version="1.0"?>
<!DOCTYPE datafile PUBLIC "-//Logiqx//DTD ROM Management Datafile//EN" "http://www.logiqx.com/Dats/datafile.dtd">
<datafile>
  <header><name>Maker - Console (20240101-101010)</name><version>20240101-101010</version><clrmamepro forcenodump="required"/></header>
  <game name="One (USA)" cloneof="One"><description>One &amp; all</description><release name="One" region="USA"/>
    <rom name="One (USA).bin" size="16" crc="1A2B3C" MD5="x" sha1="0123456789ABCDEF0123456789ABCDEF01234567" status="verified"/>
  </game>
  <dir name="more"><machine name="Set" id="0002" cloneofid="0001"><rom name="-" status="nodump"/><disk name="disc" sha1="-" status="baddump"/></machine></dir>
  <game name="no files"/>
</datafile>`

t.test('real spellings of XML are read: doctype, short CRC, capitals, folders, machines', async (t) => {
  t.match(await read(LOGIQX), {
    header: { name: 'Maker - Console (20240101-101010)', version: '20240101-101010', author: '' },
    games: [
      {
        name: 'One (USA)',
        clone_of: 'One',
        files: [{ size: 16, crc: '001a2b3c', md5: '', sha1: '0123456789abcdef0123456789abcdef01234567', status: 'verified', is_disk: false }]
      },
      { name: 'Set', id: '0002', clone_of_id: '0001', files: [{ status: 'nodump', size: null }, { name: 'disc', sha1: '', status: 'baddump', is_disk: true }] }
    ]
  })
})

t.test('the list of MAME gives its header from the root element', async (t) => {
  const mame = '<?xml version="1.0"?><!DOCTYPE mame [<!ELEMENT mame (machine+)>\n<!ATTLIST mame build CDATA #IMPLIED>]>' +
    '<mame build="0.264"><machine name="pacman" romof="puckman"><rom name="a.1" merge="a.1" size="1" crc="00000001"/></machine></mame>'
  t.match(await read(mame), { header: { name: 'MAME', version: '0.264' }, games: [{ name: 'pacman', files: [{ merge: 'a.1' }] }] })
})

t.test('a declared encoding is followed', async (t) => {
  const xml = '<?xml version="1.0" encoding="ISO-8859-1"?><datafile><game name="Pokémon"><rom name="é"/></game></datafile>'
  t.match(await read(Buffer.from(xml, 'latin1')), { games: [{ name: 'Pokémon', files: [{ name: 'é' }] }] })
})

t.test('a text that is not UTF-8 keeps its letters, wherever its pieces end', async (t) => {
  const lines = ['clrmamepro (', ' name "Café"', ` author "${'x'.repeat(1_100)}" )`, 'game (', ' name "Pokémon – Größe"', ' rom ( name "é" size 1 crc 1 )', ')', '']
  const western = (line: string) => Buffer.from(line.replace('–', '\x96'), 'latin1')
  const mixed = Buffer.concat(lines.map((line, index) => Buffer.concat([index < 3 ? Buffer.from(line) : western(line), Buffer.from('\n')])))
  for (const bytes of [western(lines.join('\n')), Buffer.from(lines.join('\n')), mixed]) {
    for (let size = 1; size < 9; size++) {
      t.match(await read(bytes, size), { header: { name: 'Café' }, games: [{ name: 'Pokémon – Größe', files: [{ name: 'é' }] }] })
    }
  }
})

t.test('UTF-16 is read in both byte orders, and a wrong declaration of UTF-16 is ignored', async (t) => {
  const xml = '<?xml version="1.0" encoding="utf-16"?><datafile><game name="Pokémon"><rom name="é"/></game></datafile>'
  const little = Buffer.from(`\uFEFF${xml}`, 'utf16le')
  for (const bytes of [little, Buffer.from(little).swap16(), Buffer.from(xml)]) {
    t.match(await read(bytes), { games: [{ name: 'Pokémon', files: [{ name: 'é' }] }] })
  }
})

t.test('parentheses in a value without quotes belong to the value', async (t) => {
  const text = 'game (\n name game(usa)\n rom (name game(usa)(b).bin size 3 crc 01020304)\n rom( name b size 1 crc 1 )\n)'
  t.match(await read(text), { games: [{ name: 'game(usa)', files: [{ name: 'game(usa)(b).bin', crc: '01020304' }, { name: 'b', crc: '00000001' }] }] })
})

const REFUSED: readonly (readonly [title: string, text: string | Uint8Array, line: number, problem: RegExp])[] = [
  ['no DAT', 'hello', 1, /neither XML nor/],
  ['an empty file', '', 1, /neither XML nor/],
  ['another document', '<html>', 1, /<html>/],
  ['XML that breaks off', LOGIQX.slice(0, 600), 8, /not well-formed/],
  ['XML that is invalid in the middle', LOGIQX.replace('</description>', '</desc>'), 5, /not well-formed.*again/],
  ['an entity', '<!DOCTYPE datafile [<!ENTITY x "y">]>\n<datafile><game name="&x;"/></datafile>', 2, /entity/],
  ['a file without a name', '<datafile>\n<game name="x"><rom size="1"/></game></datafile>', 2, /no name/],
  ['a deep nesting', `<datafile>${'<a>'.repeat(40)}`, 1, /nested more than/],
  ['a long name', `<datafile><game name="${'x'.repeat(3_000)}"><rom name="y"/></game></datafile>`, 1, /more than 2000 bytes/],
  ['a long name of wide characters', `game (\n name ${'名'.repeat(700)}\n rom ( name y )\n)`, 4, /more than 2000 bytes/],
  ['an open quote', 'game (\n name "x\n)', 2, /quote/],
  ['an open block', 'game (\n name x\n', 3, /'game' is not closed/],
  ['a block too many', 'game (\n name x\n)\n)', 4, /closes no block/],
  ['an unknown encoding', '<?xml version="1.0" encoding="klingon"?><datafile/>', 1, /klingon/]
]
for (const [title, text, line, problem] of REFUSED) {
  t.test(`${title} is refused with its line`, async (t) => {
    const error: unknown = await read(text).then(() => null, (err: unknown) => err)
    t.type(error, DatError)
    t.match(error, { line, message: problem })
  })
}

t.test('a text without end is refused before it fills the memory', async (t) => {
  async function * endless () {
    yield Buffer.from('<datafile><header><name>')
    for (;;) yield Buffer.alloc(65_536, 'x')
  }
  await t.rejects(openDat(endless()), { name: 'DatError', message: /more than 1048576 characters/ })
})

t.test('a game without end in the text format is refused before it fills the memory', async (t) => {
  async function * repeat (line: string) {
    yield Buffer.from('game (\n')
    for (let sent = 0; sent < 64; sent++) yield Buffer.from(line.repeat(5_000))
  }
  await t.rejects(openDat(repeat('rom ( name a )\n')), { name: 'DatError', message: /a game has more than 100000 files/ })
  let keys = 0
  async function * nameKeys () {
    yield Buffer.from('game (\n')
    for (let sent = 0; sent < 4; sent++) yield Buffer.from(Array.from({ length: 500 }, () => `key${keys++} x\n`).join(''))
  }
  await t.rejects(openDat(nameKeys()), { name: 'DatError', message: /the block 'game' has more than 1000 values/ })
})

t.test('versions of one DAT have one key', async (t) => {
  const same = ['Nintendo - Game Boy (20240101-101010)', 'Nintendo - Game Boy', 'Nintendo - Game  Boy (2023-12-31)']
  t.equal(new Set(same.map(datKey)).size, 1)
  t.not(datKey('Nintendo - Game Boy (Headered) (20240101)'), datKey('Nintendo - Game Boy (20240101)'))
})

t.test('a version is older only if it can be compared', async (t) => {
  t.ok(isOlder('20230101-101010', '20240101-090909'))
  t.notOk(isOlder('20240101-101010', '20240101-101010'))
  t.notOk(isOlder('2023-01-01 10-10-10', '20240101-101010'), 'another form')
  t.ok(isOlder('0.263', '0.264'))
  t.notOk(isOlder('', '0.264'))
})

t.test('the platform follows from the name of the DAT', async (t) => {
  const expected = {
    'Nintendo - Super Nintendo Entertainment System (20240101-123456)': ['sfam', 'snes'],
    'Nintendo - Game Boy (Parent-Clone)': ['gb'],
    'Sony - PlayStation - Datfile (10000) (2024-01-01 10-10-10)': ['psx'],
    'Commodore C64 - Games - [D64] (TOSEC-v2024-01-01)': ['c64'],
    MAME: ['arcade'],
    'FinalBurn Neo - Arcade Games': ['arcade'],
    'Nobody - Nothing': []
  }
  for (const [name, slugs] of Object.entries(expected)) t.strictSame(findPlatformSlugs(name), slugs, name)
})
