import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { SourceError } from '../../../plugins/imports/contract.ts'
import { openDumpText } from '../../../plugins/imports/romm/dump/open-text.ts'
import { type Column, DumpParser } from '../../../plugins/imports/romm/dump/parser.ts'
import type { Dialect } from '../../../plugins/imports/romm/dump/tokens.ts'
import { DUMP_STYLES, type DumpStyle, type DumpTable, type DumpValue, renderDump } from './fixtures/romm-dump.ts'

const dialectOf = (style: DumpStyle): Dialect => style === 'mysqldump' ? 'mysql' : 'postgres'

/** Parses a text that arrives in pieces; returns the rows by table, each as an object. */
function parse (dialect: Dialect, pieces: readonly string[], wants = (table: string) => table !== 'other') {
  const rows: Record<string, Record<string, string | null>[]> = {}
  const columns: Record<string, readonly Column[]> = {}
  const parser = new DumpParser(dialect, {
    wants,
    onTable: (table, defined) => {
      rows[table] = []
      columns[table] = defined
    },
    onRow: (table, names, values) => {
      rows[table]?.push(Object.fromEntries(names.map((name, index) => [name, values[index] ?? null])))
    }
  })
  for (const piece of pieces) parser.write(piece)
  parser.end()
  return { rows, columns }
}

const name = fc.oneof(fc.stringMatching(/^[a-z_]{1,12}$/), fc.constantFrom('order', 'a b', 'a"b', 'key', 'a`b', 'größe'))
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }), fc.json(),
  fc.string({ unit: fc.constantFrom("'", '"', '\\', '\n', '\t', '\r', ';', '(', ')', ',', '`', '$$', '--', '/*', '\\.', '\\N', 'é', '\x1a') })
)
const value: fc.Arbitrary<DumpValue> = fc.oneof(
  text, fc.constant(null), fc.boolean(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })
)
const table = fc.uniqueArray(name, { minLength: 1, maxLength: 6 }).chain((columns) => fc.record({
  columns: fc.constant(columns),
  rows: fc.array(fc.tuple(...columns.map(() => value)), { maxLength: 5 })
}))
const dump = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z_]{1,12}$/), table), { maxLength: 3, selector: ([title]) => title })
  .map((tables) => tables.map(([title, content]): DumpTable => ({ name: title, ...content })))

function expected (style: DumpStyle, { columns, rows }: DumpTable) {
  const toText = (one: DumpValue) => one === null || typeof one === 'string'
    ? one
    : typeof one === 'boolean' ? toFlag(style, one) : style === 'mysqldump' ? String(Number(one)) : String(one)
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, toText(row[index] ?? null)])))
}

function toFlag (style: DumpStyle, flag: boolean): string {
  if (style === 'mysqldump') return flag ? '1' : '0'
  return style === 'pg_dump' ? (flag ? 't' : 'f') : String(flag)
}

function define (style: DumpStyle, { name: title, columns }: DumpTable): string {
  const quote = (one: string) => style === 'mysqldump' ? `\`${one.replaceAll('`', '``')}\`` : `"${one.replaceAll('"', '""')}"`
  const parts = columns.map((column) => `${quote(column)} enum('a,(','b'';') default 'x)' check (1 in (1, 2))`)
  return `create table ${quote(title)} (${[...parts, `PRIMARY KEY (${quote(columns[0] ?? '')})`].join(',\n  ')})`
}

for (const style of DUMP_STYLES) {
  t.test(`any rows of ${style} are read, wherever the text is cut`, async (t) => {
    fc.assert(fc.property(dump, fc.array(fc.nat(2_000), { maxLength: 20 }), (tables, cuts) => {
      const sql = renderDump(style, tables, tables.map((one) => define(style, one)))
      const pieces: string[] = []
      let rest = sql
      for (const cut of cuts) {
        pieces.push(rest.slice(0, cut))
        rest = rest.slice(cut)
      }
      const { rows, columns } = parse(dialectOf(style), [...pieces, rest], () => true)
      for (const one of tables) {
        t.strictSame(columns[one.name]?.map((column) => column.name), one.columns)
        t.strictSame(rows[one.name], expected(style, one))
      }
    }), { numRuns: 150 })
  })
}

t.test('each character alone gives the same rows', async (t) => {
  const table = { name: 'users', columns: ['id', 'name'], rows: [[1, "it's \\ 100% done;\n"], [-2, null]] }
  for (const style of DUMP_STYLES) {
    const { rows } = parse(dialectOf(style), [...renderDump(style, [table], [define(style, table)])])
    t.strictSame(rows, { users: expected(style, table) })
  }
})

t.test('the time for a long row grows with its length, not with its square', async (t) => {
  const chunk = 'y'.repeat(256 * 1024)
  // The time of the processor, because other programs delay the parser.
  const startedAt = process.cpuUsage()
  const { rows } = parse('mysql', ["create table a (x text);insert into a values ('", ...Array.from({ length: 160 }, () => chunk), "');"])
  t.equal(rows.a?.[0]?.x?.length, 160 * chunk.length)
  const { user, system } = process.cpuUsage(startedAt)
  const ms = (user + system) / 1_000
  t.ok(ms < 4_000, `${Math.round(ms)} ms for 40 MiB`)
})

t.test('statements of other programs and options are read', async (t) => {
  const read = (dialect: Dialect, sql: string) => parse(dialect, [`create table a (x int, y text);${sql}`]).rows.a
  const row = [{ x: '1', y: "q'\n" }]
  t.strictSame(read('mysql', "INSERT IGNORE INTO `romm`.`a` (`y`, `x`) VALUES ('q''\\n', 1) ON DUPLICATE KEY UPDATE x = 2;"),
    [{ y: "q'\n", x: '1' }])
  t.strictSame(read('mysql', "replace into a values (0x31, _utf8mb4'q\\'\\n')"), row)
  t.strictSame(read('mysql', 'insert into a values (1, _binary 0x71270a); insert into other values (1)'), row)
  t.strictSame(read('mysql', "insert into a values (DEFAULT, 'a\\%b\\_c\\Z\\q')"), [{ x: null, y: 'a\\%b\\_c\x1aq' }])
  t.strictSame(read('postgres', "INSERT INTO a OVERRIDING SYSTEM VALUE VALUES (1, E'q\\'\\n'::text);"), row)
  t.strictSame(read('postgres', "INSERT INTO a VALUES ('1'::int, 'q''\n'), (-1.5e+10, '');"), [...row, { x: '-1.5e+10', y: '' }])
  t.strictSame(read('postgres', 'COPY public.a FROM stdin WITH (FORMAT text);\n1\tq\\x27\\012\n\\.\n'), row)
  t.strictSame(read('postgres', "INSERT INTO a SELECT 1, 'x'; -- VALUES (1, 2)"), [])
})

t.test('a dump that is cut short or damaged is refused with a remedy', async (t) => {
  const sql = "CREATE TABLE `users` (`id` int, `name` text);\nINSERT INTO `users` VALUES (1,'a'),(2,'b');\n"
  for (const end of [40, sql.length - 4, sql.length - 8]) {
    t.throws(() => parse('mysql', [sql.slice(0, end)]), /ends in the middle/, sql.slice(0, end))
  }
  t.throws(() => parse('mysql', [sql, 'INSERT INTO `users` VALUES (3);']), /1 values for 2 columns.*Make it again/)
  t.throws(() => parse('mysql', [sql, sql]), /table users twice.*RomM's database alone/)
  t.throws(() => parse('mysql', ['INSERT INTO `users` VALUES (3);']), /no definition of it.*with definitions/)
  t.throws(() => parse('postgres', ['COPY users (id) FROM stdin;\n1\n']), /middle of the table users/)
})

t.test('any text is read or refused with a remedy', async (t) => {
  const word = fc.constantFrom('CREATE TABLE ', 'INSERT INTO ', 'COPY ', 'users', ' VALUES ', '(', ')', ',', ';', "'", '"', '`', '$$', '$a$',
    '\\', '\n', '\\.', '--', '/*', '*/', '#', '0x', "E'", "b'1'", 'DELIMITER ;;', ' FROM stdin;\n', '\t', '1', '-', '.', 'NULL', 'é')
  fc.assert(fc.property(fc.array(word, { maxLength: 40 }), fc.constantFrom<Dialect>('mysql', 'postgres'), (words, dialect) => {
    try {
      parse(dialect, words)
    } catch (err) {
      if (!(err instanceof SourceError)) throw err
      t.match(err.message, /\. [A-Z]/)
    }
  }), { numRuns: 2_000 })
})

t.test('files', async (t) => {
  const folder = t.testdir({ 'plain.sql': 'select 1;é' })
  const read = async (path: string) => (await Array.fromAsync(openDumpText(path, new AbortController().signal))).join('')
  t.equal(await read(`${folder}/plain.sql`), 'select 1;é')
  const packed = gzipSync('select 1;é')
  await writeFile(`${folder}/plain.sql.gz`, Buffer.concat([packed, packed]))
  t.equal(await read(`${folder}/plain.sql.gz`), 'select 1;éselect 1;é', 'all members of a gzip file are read')
  await writeFile(`${folder}/windows.sql`, Buffer.from('\ufeffselect 1;é', 'utf16le'))
  t.equal(await read(`${folder}/windows.sql`), 'select 1;é', 'UTF-16 of PowerShell is read')
  for (const text of ['\ufeffselect 1;é', 'select 1;é']) {
    const littleEndian = Buffer.from(text, 'utf16le')
    for (const bytes of [littleEndian, Buffer.from(littleEndian).swap16()]) {
      await writeFile(`${folder}/utf16.sql`, bytes)
      t.equal(await read(`${folder}/utf16.sql`), 'select 1;é', bytes.subarray(0, 4).toString('hex'))
    }
  }
  await writeFile(`${folder}/cut.sql.gz`, packed.subarray(0, -9))
  await t.rejects(read(`${folder}/cut.sql.gz`), /packed dump is damaged.*Copy it again/)
  await writeFile(`${folder}/custom.dump`, 'PGDMP\x01\x0e')
  await t.rejects(read(`${folder}/custom.dump`), /pg_restore --no-owner --file/)
  await writeFile(`${folder}/latin1.sql`, Buffer.from('select 1;é', 'latin1'))
  await t.rejects(read(`${folder}/latin1.sql`), /not UTF-8.*utf8mb4 --result-file=.*UTF8 --file=/)
  await t.rejects(read(`${folder}/absent.sql`), /cannot be opened: ENOENT/)
  await t.rejects(read(folder), /is no file/)
  await writeFile(`${folder}/bomb.gz`, gzipSync(Buffer.alloc(80 * 1024 * 1024)))
  await t.rejects(read(`${folder}/bomb.gz`), /grows more than any dump/)
})
