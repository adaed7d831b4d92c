import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import t, { type Test } from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { createTestDatabase } from '../support.ts'
import { EARLY, FILES_MAX, expandFolders, listSoakFiles, listTestFiles, orderFiles, programOf, takeFiles, takerOf } from './write-groups.ts'

const IMPORT = "import t from 'tap'"
const HANGS = 'a test that does not end'
const PASSES = `${IMPORT}\nt.test('is right', async (t) => { t.ok(true) })`
const ENVIRONMENT = pathToFileURL(join(SERVER_DIR, 'core', 'config', 'environment.ts')).href
/** The timeout of a file, generous for a busy machine. */
const TIMEOUT_S = 60
const SHORT_TIMEOUT_S = 4

interface Ended { code: number | null, output: string }

/** Runs these files, by name, as a group. Returns the output and the exit code. */
async function run (t: Test, files: Record<string, string>, timeoutS = TIMEOUT_S): Promise<Ended> {
  const folder = t.testdir(files)
  const names = Object.keys(files).map((name) => relative(SERVER_DIR, join(folder, name)))
  const program = join(folder, 'group.mjs')
  writeFileSync(program, programOf(names))
  const { code, output } = await runProgram(program, timeoutS)
  return { code, output: output.replaceAll(`${relative(SERVER_DIR, folder)}/`, '') }
}

async function runProgram (program: string, timeoutS = TIMEOUT_S): Promise<Ended> {
  const child = spawn(process.execPath, ['--import=./test/note-nothing.js', ...process.execArgv, program], {
    cwd: SERVER_DIR, env: { ...process.env, TAP_TIMEOUT: String(timeoutS), TAP_CHILD_ID: '1' }, stdio: ['ignore', 'pipe', 'inherit']
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code: code as number | null, output }
}

t.test('files of a group run one after the other, each as a test with its name', async (t) => {
  const { code, output } = await run(t, { 'a.js': PASSES, 'b.js': "import { test } from 'tap'\ntest('too', async (t) => { t.ok(1) })" })
  t.equal(code, 0, output)
  t.match(output, /^ok 1 - a\.js[^]*^ok 2 - b\.js/m)
})

t.test('a failing file is named, and the files after it run', async (t) => {
  const failing = {
    'an assertion': `${IMPORT}\nt.test('is wrong', async (t) => { t.equal(1, 2) })`,
    'an error while it is read': "throw new Error('broken')",
    'a teardown that fails': `${PASSES}\nt.teardown(() => { throw new Error('broken') })`,
    [HANGS]: `${IMPORT}\nt.test('hangs', () => new Promise((resolve) => setTimeout(resolve, ${SHORT_TIMEOUT_S + 1}_000)))`
  }
  for (const [what, content] of Object.entries(failing)) {
    await t.test(what, async (t) => {
      const { code, output } = await run(t, { 'bad.js': content, 'good.js': PASSES }, what === HANGS ? SHORT_TIMEOUT_S : TIMEOUT_S)
      t.equal(code, 1, output)
      t.match(output, /^not ok \d - bad\.js/m)
      t.match(output, /^ok \d - good\.js/m)
    })
  }
})

t.test('a file that ends the process is named and fails the group', async (t) => {
  const ending = {
    'an exit without a word': 'process.exit(0)',
    'an exit from a test that is under way': `${IMPORT}\nt.test('ends', async (t) => { t.ok(true); process.exit(0) })`,
    'an error that nobody caught': `${IMPORT}\nt.test('is late', () => new Promise(() => setTimeout(() => { throw new Error('late') })))`,
    'a promise that nobody caught':
      `${IMPORT}\nt.test('is late', async (t) => { t.ok(true); Promise.reject(new Error('late')); await new Promise(setImmediate) })`
  }
  for (const [what, content] of Object.entries(ending)) {
    await t.test(what, async (t) => {
      const { code, output } = await run(t, { 'a.js': PASSES, 'bad.js': content, 'c.js': PASSES })
      t.not(code, 0, output)
      t.match(output, /^not ok \d - (bad\.js|late\n[^]*fileName: bad\.js)/m)
    })
  }
})

t.test('changes by a file to the environment, directory, umask and clock are undone', async (t) => {
  const { code, output } = await run(t, {
    'a.js': `import { mock } from 'node:test'
import { removeSettings } from ${JSON.stringify(ENVIRONMENT)}
process.env.SVC_A = '1'
removeSettings()
delete process.env.PATH
process.chdir('/')
process.umask(0o777)
mock.timers.enable({ apis: ['setTimeout'] })`,
    'b.js': `import t from 'tap'
import { settingsEnvironment } from ${JSON.stringify(ENVIRONMENT)}
t.same([process.env.SVC_A, process.env.PATH, process.cwd()], [undefined, ${JSON.stringify(process.env.PATH)}, ${JSON.stringify(SERVER_DIR)}])
t.same([settingsEnvironment(), process.umask()], [process.env, ${process.umask()}])
await new Promise((resolve) => setTimeout(resolve))`
  })
  t.equal(code, 0, output)
})

t.test('each file is run by one process, and each process runs a bounded number', async (t) => {
  const files = orderFiles(listTestFiles())
  t.ok(listSoakFiles().includes(relative(SERVER_DIR, import.meta.filename)))
  t.same(files.toSorted(), listTestFiles())
  const folder = t.testdir({ taken: {} })
  const queue = { folder: join(folder, 'taken'), files }
  const [first, second] = [takeFiles(queue, join(folder, 'a.mjs')), takeFiles(queue, join(folder, 'b.mjs'))]
  t.same([first.next().value, second.next().value, first.next().value], files.slice(0, 3))
  t.same([...first].length, FILES_MAX - 2)
  t.match(readFileSync(join(folder, 'a.mjs'), 'utf8'), programOf([files[0] ?? '', files[2] ?? '']).slice(0, -4), 'its program repeats them')
  const more = Math.ceil(files.length / FILES_MAX)
  const rest = [...second, ...Array.from({ length: more }, () => [...takeFiles(queue, join(folder, 'c.mjs'))]).flat()]
  t.equal(rest.length, files.length - 1 - FILES_MAX)
  t.equal(new Set(rest).size, rest.length)
})

t.test('a folder on the command line stands for its files', async (t) => {
  const files = ['test/a.test.ts', 'test/roms/a.test.ts', 'test/roms/deep/b.test.ts', 'test/roms-2.test.ts']
  for (const name of ['test/roms', 'test/roms/']) t.same(expandFolders(['--bail', name], files), ['--bail', ...files.slice(1, 3)])
  t.same(expandFolders(['test/a.test.ts', 'test/other.soak.ts'], files), ['test/a.test.ts', 'test/other.soak.ts'])
})

t.test('files that start early exist', async (t) => {
  const files = [...listTestFiles(), ...listSoakFiles()]
  for (const start of EARLY) t.ok(files.some((file) => file.startsWith(start)), start)
})

t.test('a process without a file left does not fail', async (t) => {
  const folder = t.testdir({ taken: {} })
  const program = join(folder, 'none.mjs')
  writeFileSync(program, takerOf({ folder: join(folder, 'taken'), files: [] }))
  const { code, output } = await runProgram(program)
  t.equal(code, 0, output)
  t.match(output, /^1\.\.0 # other processes have taken all files/m)
})

/** Runs a test that creates a database and executes this SQL. Returns the database's URL and the rows. */
async function useDatabase (t: Test, sql: string): Promise<{ url: string, rows: unknown[] }> {
  const used = { url: '', rows: [] as unknown[] }
  await t.test(sql, async (t) => {
    used.url = await createTestDatabase(t)
    const client = new pg.Client({ connectionString: used.url })
    await client.connect()
    used.rows = (await client.query(sql)).rows
    await client.end()
    t.pass()
  })
  return used
}

/** The size of an empty table whose indexes have only their first pages. */
const SMALL_BYTES = 64 * 1024
const KNOWN = `select (select count(*)::int from throttles) as rows, (select count(*)::int from pg_stats where tablename = 'throttles') as columns,
  pg_relation_size(oid)::int as size, pg_indexes_size(oid)::int as indexes, reltuples from pg_class where relname = 'throttles'`

t.test('a used database is as good as new for the next test, or is not reused', async (t) => {
  const fill = (rows: number) => `insert into throttles (key) select 'a' || i from generate_series(1, ${rows}) i`
  const EMPTY = { rows: 0, columns: 0, reltuples: -1 }
  t.match((await useDatabase(t, KNOWN)).rows, [EMPTY])
  for (const sql of [fill(5_000), `${fill(5_000)}; analyze throttles`, 'analyze throttles']) {
    await useDatabase(t, sql)
    const used = await useDatabase(t, KNOWN)
    t.match(used.rows, [EMPTY], sql)
    const [{ size, indexes } = { size: NaN, indexes: NaN }] = used.rows as { size: number, indexes: number }[]
    t.ok(size + indexes <= SMALL_BYTES, `${size} and ${indexes} bytes`)
  }
  const { url } = await useDatabase(t, fill(9))
  t.match(await useDatabase(t, KNOWN), { url, rows: [{ rows: 0 }] })
  for (const sql of [
    fill(100_000), 'alter table roms set (autovacuum_enabled = false)', 'create table mine (id int)', 'alter table users add mine int',
    'create function mine () returns int language sql as $$ select 1 $$', 'alter table users disable trigger user'
  ]) {
    const { url } = await useDatabase(t, sql)
    t.not((await useDatabase(t, KNOWN)).url, url, sql)
  }
})

t.test('a closing connection is not cut off when its database is reused', async (t) => {
  const lost: Error[] = []
  for (let time = 0; time < 10; time++) {
    await t.test(`time ${time}`, async (t) => {
      const pool = new pg.Pool({ connectionString: await createTestDatabase(t) })
      pool.on('error', (err) => { lost.push(err) })
      t.teardown(() => pool.end())
      await Promise.all(Array.from({ length: 5 }, () => pool.query('select 1')))
      t.pass()
    })
  }
  t.same(lost, [])
})
