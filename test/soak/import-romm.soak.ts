import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import t from 'tap'
import type { ImporterSettings } from '../../plugins/imports/contract.ts'
import { openRomm } from '../../plugins/imports/romm/open.ts'
import { freePort } from '../free-port.ts'
import { createRommDatabase, writeRommFiles } from '../plugins/imports/fixtures/romm-postgres.ts'
import { ROWS_4, ROWS_5 } from '../plugins/imports/fixtures/romm-rows.ts'
import {
  createRommTables, insertRommRows, ROMM_4, ROMM_5, type RommDialect, type RommRows, type RommTable
} from '../plugins/imports/fixtures/romm-schema.ts'
import { createContext, listAll } from '../plugins/imports/support.ts'
import { until } from '../until.ts'
import { installDebian } from './install-debian.ts'

const execute = promisify(execFile)
const PACKAGES = ['mariadb-server', 'mariadb-client', 'postgresql']
const isRoot = process.getuid?.() === 0
const INSTALLATIONS = [['4', ROMM_4, ROWS_4], ['5', ROMM_5, ROWS_5]] as const

async function exists (path: string): Promise<boolean> {
  return await access(path).then(() => true, () => false)
}

/** Installs the servers of Debian if possible. @returns true if they are installed */
const hasServers = () => installDebian(PACKAGES, async () =>
  await exists('/usr/sbin/mariadbd') && await exists('/usr/lib/postgresql'))

/** A server of its own, on loopback only. */
interface Server {
  readonly dialect: RommDialect
  urlOf (database: string): string
  run (database: string, statements: readonly string[]): Promise<void>
  createDatabase (database: string): Promise<void>
  /** Writes a dump of a database and returns its path. */
  dump (database: string, options: readonly string[]): Promise<string>
}

async function startServer (
  program: string, args: readonly string[], options: { uid?: number }, isReady: () => Promise<unknown>
) {
  const server = spawn(program, args, { stdio: 'ignore', ...options })
  const exited = once(server, 'exit')
  t.teardown(async () => {
    server.kill('SIGTERM')
    await exited
  })
  await until(() => isReady().then(() => true, () => false), `${program} starts`)
}

/** Starts MariaDB in a zone other than UTC, because RomM's times are shown in the zone of the session. */
async function startMariadb (folder: string): Promise<Server> {
  const [data, socket, port] = [join(folder, 'data'), join(folder, 'sock'), await freePort()]
  const user = userInfo().username
  await execute('mariadb-install-db', [`--datadir=${data}`, `--user=${user}`, '--auth-root-authentication-method=normal'])
  const client = ['--protocol=socket', `--socket=${socket}`, '--user=root']
  await startServer('/usr/sbin/mariadbd', ['--no-defaults', `--datadir=${data}`, `--socket=${socket}`, `--user=${user}`,
    '--bind-address=127.0.0.1', `--port=${port}`, `--pid-file=${join(folder, 'pid')}`, '--default-time-zone=+05:30'],
  {}, () => execute('mariadb-admin', [...client, 'ping']))

  async function run (database: string, statements: readonly string[]) {
    const file = join(folder, 'statements.sql')
    await writeFile(file, ["set time_zone = '+00:00'", ...statements].map((sql) => `${sql};\n`).join(''))
    await execute('mariadb', [...client, '--default-character-set=utf8mb4', `--execute=source ${file}`, database])
  }
  await run('mysql', ["create user romm@'127.0.0.1' identified by 's3cret/:@'", "grant select on *.* to romm@'127.0.0.1'"])
  return {
    dialect: 'mysql',
    urlOf: (database) => `mariadb://romm:${encodeURIComponent('s3cret/:@')}@127.0.0.1:${port}/${database}`,
    run,
    createDatabase: (database) => run('mysql', [`create database ${database} character set utf8mb4`]),
    async dump (database, options) {
      const path = join(folder, `${database}.sql`)
      await execute('mysqldump', [...client, ...options, `--result-file=${path}`, database])
      return path
    }
  }
}

/** Starts PostgreSQL, which refuses to run as root. */
async function startPostgres (folder: string): Promise<Server> {
  const [version = ''] = (await readdir('/usr/lib/postgresql')).sort().reverse()
  const bin = join('/usr/lib/postgresql', version, 'bin')
  const [data, port] = [join(folder, 'data'), await freePort()]
  const uid = isRoot ? Number((await execute('id', ['-u', 'postgres'])).stdout) : undefined
  const options = { ...uid === undefined ? {} : { uid }, cwd: folder }
  if (uid !== undefined) await chown(folder, uid, 0)
  await execute(join(bin, 'initdb'), ['--auth=trust', '--username=romm', '--encoding=UTF8', '--locale=C', data], options)
  const urlOf = (database: string) => `postgresql://romm@127.0.0.1:${port}/${database}`
  async function run (database: string, statements: readonly string[]) {
    const client = new pg.Client({ connectionString: urlOf(database) })
    await client.connect()
    await client.query("set time zone 'UTC'")
    for (const sql of statements) await client.query(sql)
    await client.end()
  }
  await startServer(join(bin, 'postgres'), ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder,
    '-c', 'timezone=Asia/Kolkata'], options, () => run('postgres', []))
  return {
    dialect: 'postgres',
    urlOf,
    run,
    createDatabase: (database) => run('postgres', [`create database ${database}`]),
    async dump (database, given) {
      const path = join(folder, `${database}.sql`)
      await execute(join(bin, 'pg_dump'), [...given, `--file=${path}`, urlOf(database)])
      return path
    }
  }
}

const folder = await mkdtemp(join(tmpdir(), 'svc-import-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const romm = join(folder, 'romm')
await writeRommFiles(romm)
let works = 0

/** Reads everything from a source, as an import does. */
async function read (settings: ImporterSettings) {
  const work = join(folder, `work-${++works}`)
  await mkdir(work)
  const context = createContext(work)
  const importer = await openRomm({ ...settings, base_path: romm }, context)
  const all = await listAll(importer)
  await importer.close()
  await rm(work, { recursive: true })
  const { title, identity, absent } = importer
  return { title, records: { all, identity, absent, skipped: context.skipped } }
}

/** Fills a database. */
async function install (server: Server, database: string, tables: readonly RommTable[], rows: RommRows) {
  await server.createDatabase(database)
  await server.run(database, [...createRommTables(server.dialect, tables), ...insertRommRows(server.dialect, rows)])
}

const ROMS = 20_000
/** Returns the statements that add so many ROMs with two files and a save of every tenth. */
const GROWTH: Record<RommDialect, readonly string[]> = {
  mysql: [
    `insert into roms (id, platform_id, fs_name, fs_path, name, igdb_metadata) select 1000 + seq, 3, concat('g', seq, '.sfc'), 'roms/snes', concat('Game ', seq), concat('{"a": "', repeat('x', 5000), '"}') from seq_1_to_${ROMS}`,
    `insert into rom_files (id, rom_id, file_name, file_path, sha1_hash) select 1000 + seq, 1000 + seq div 2, concat('f', seq), 'roms/snes', sha1(seq) from seq_2_to_${2 * ROMS}`,
    `insert into saves (id, rom_id, user_id, file_name, file_path) select 1000 + seq, 1000 + seq, 1, 'a.srm', 'users/x' from seq_1_to_${ROMS / 10}`
  ],
  postgres: [
    `insert into roms (id, platform_id, fs_name, fs_path, name, igdb_metadata) select 1000 + seq, 3, concat('g', seq, '.sfc'), 'roms/snes', concat('Game ', seq), jsonb_build_object('a', repeat('x', 5000)) from generate_series(1, ${ROMS}) as seq`,
    `insert into rom_files (id, rom_id, file_name, file_path, sha1_hash) select 1000 + seq, 1000 + seq / 2, concat('f', seq), 'roms/snes', md5(seq::text) from generate_series(2, ${2 * ROMS}) as seq`,
    `insert into saves (id, rom_id, user_id, file_name, file_path) select 1000 + seq, 1000 + seq, 1, 'a.srm', 'users/x' from generate_series(1, ${ROMS / 10}) as seq`
  ]
}
const MAX_READ_MS = 60_000

if (!await hasServers()) {
  t.plan(0, 'MariaDB and PostgreSQL of Debian are not installed, and cannot be installed here')
} else {
  const makeFolder = async (name: string) => {
    await mkdir(join(folder, name), { mode: 0o755 })
    return join(folder, name)
  }
  await execute('chmod', ['755', folder])
  const servers = [
    {
      server: await startMariadb(await makeFolder('mariadb')),
      title: 'MariaDB',
      dumps: [[], ['--complete-insert', '--skip-extended-insert', '--routines'], ['--single-transaction', '--hex-blob']]
    },
    { server: await startPostgres(await makeFolder('postgres')), title: 'PostgreSQL', dumps: [[], ['--inserts'], ['--column-inserts', '--no-owner']] }
  ]

  for (const { server, title, dumps } of servers) {
    t.test(`${title} of Debian and its dumps give the records of the embedded PostgreSQL`, async (t) => {
      for (const [release, tables, rows] of INSTALLATIONS) {
        await install(server, `romm${release}`, tables, rows)
        const expected = await read({ database_url: await createRommDatabase(t, tables, rows) })
        const actual = await read({ database_url: server.urlOf(`romm${release}`) })
        t.match(actual.title, title)
        t.strictSame(actual.records, expected.records, `RomM ${release} in ${title}`)
        for (const options of dumps) {
          const dumped = await read({ dump: await server.dump(`romm${release}`, options) })
          t.strictSame(dumped.records, expected.records, `RomM ${release} in a dump ${options.join(' ')}`)
        }
      }
    })

    t.test(`${ROMS} ROMs in ${title} and in its dump are read in a minute with bounded memory`, async (t) => {
      await server.run('romm5', GROWTH[server.dialect])
      const dump = await server.dump('romm5', [])
      for (const settings of [{ database_url: server.urlOf('romm5') }, { dump }]) {
        const context = createContext(await makeFolder(`large-${++works}`))
        const before = performance.now()
        const importer = await openRomm(settings, context)
        let roms = 0
        let files = 0
        let memory = 0
        for await (const rom of importer.list('rom')) {
          roms += 1
          files += rom.files.length
          if (roms % 1_000 === 0) memory = Math.max(memory, process.memoryUsage.rss())
        }
        const saves = await Array.fromAsync(importer.list('asset'))
        await importer.close()
        const ms = performance.now() - before
        t.equal(roms, ROMS + 2)
        t.ok(files > ROMS)
        t.ok(saves.length >= ROMS / 10)
        t.comment(`${importer.title}: ${Math.round(ms)} ms, ${Math.round(memory / 1024 ** 2)} MB`)
        t.ok(ms < MAX_READ_MS)
      }
    })
  }

  t.test('an account that may only read is enough, and its mistakes are named', async (t) => {
    const [first] = servers
    const latin = await first?.server.dump('romm5', ['--default-character-set=latin1'])
    await t.rejects(read({ dump: latin }), /not UTF-8.*utf8mb4/, 'a dump in another character set is refused')
    await t.rejects(read({ database_url: first?.server.urlOf('absent') ?? '' }), /127\.0\.0\.1:\d+\/absent cannot be read: .*Check address/)
    await t.rejects(read({ database_url: (first?.server.urlOf('romm5') ?? '').replace(/:s3cret[^@]*@/, ':wrong@') }), /Access denied/)
  })
}
