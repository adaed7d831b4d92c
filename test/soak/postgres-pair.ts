import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, lchown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { type Account, type Binaries, locateBinaries, undefinedIf } from '../../core/postgres/binaries.ts'
import { chooseAccount, descriptorPath, serverProcessOptions } from '../../core/postgres/cluster.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { listAllChildren, isAlive } from '../e2e/server.ts'
import { freePort } from '../free-port.ts'
import { superuserUrl } from '../superuser.ts'
import { withConnection } from '../plugins/migrations/support.ts'
import { until } from '../until.ts'
import { WAIT_MS } from './server.ts'
import { startGate } from './tcp-gate.ts'

/** The name of the standby in `synchronous_standby_names`, as in examples/cluster. */
const STANDBY = 'standby'
/** No crash of the whole machine is tested, so nothing has to reach the disk. */
const SETTINGS = {
  listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', wal_keep_size: '1GB', max_connections: '100', shared_buffers: '64MB'
}

/** One of the two PostgreSQL servers. */
interface Node { dataDir: string, port: number, child: ChildProcess, output (): string }
interface Installation { binaries: Binaries, account: Account | undefined }

/** Two PostgreSQL servers with streaming replication, of which one answers at an address that moves to the other. */
export interface Pair {
  /** The address of the primary, for a server. */
  url: string
  /** Runs a statement as the superuser on the primary. */
  query<Row extends object> (text: string): Promise<Row[]>
  /** Lets the primary send nothing to the standby. @returns a function that lets it send again */
  part (): Promise<() => void>
  /** Ends the primary. @param how `kill` resets its connections; `vanish` leaves them without an answer */
  fail (how: 'kill' | 'vanish'): Promise<void>
  /** Makes the standby the primary, at the same address. */
  promote (): Promise<void>
  /** Copies the primary to the folder of the other server, which becomes its synchronous standby. */
  addStandby (): Promise<void>
}

function startNode (t: Pick<Test, 'teardown'>, dataDir: string, port: number, { binaries, account }: Installation): Node {
  const args = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(binaries.postgres, ['-D', descriptorPath(dataDir), ...args], {
    ...serverProcessOptions(dataDir, account), detached: true, stdio: ['ignore', 'ignore', 'pipe']
  })
  const lines: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => { lines.push(text) })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGQUIT')
    await ended
  })
  return { dataDir, port, child, output: () => lines.join('').slice(-5_000) }
}

/** Folders and files of a running server that a copy must not have: "Base Backup" of PostgreSQL's protocol. */
const NOT_COPIED = /^(?:postmaster\.(?:pid|opts)|pg_wal\/.*|pg_stat_tmp\/.*|pg_replslot\/.*|pg_dynshmem\/.*|.*\/pgsql_tmp.*|.*pg_internal\.init|standby\.signal|backup_label)$/

async function copyCluster (from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { mode: 0o700 })
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  const paths = entries.map((entry) => ({ entry, path: join(entry.parentPath, entry.name).slice(from.length + 1) }))
  for (const { entry, path } of paths) {
    if (NOT_COPIED.test(path) && !entry.isDirectory()) continue
    // A file may be deleted while the server runs; the log replays that.
    if (entry.isDirectory()) await mkdir(join(to, path), { recursive: true, mode: 0o700 })
    else if (entry.isFile()) await copyFile(join(from, path), join(to, path)).catch(undefinedIf('ENOENT'))
  }
}

async function changeOwner (folder: string, { uid, gid }: Account): Promise<void> {
  for (const path of ['', ...await readdir(folder, { recursive: true })]) await lchown(join(folder, path), uid, gid)
}

async function killNode ({ child: { pid = 0 } }: Node): Promise<void> {
  const pids = [pid, ...await listAllChildren(pid)]
  for (const one of pids) if (isAlive(one)) process.kill(one, 'SIGKILL')
  await until(() => !pids.some(isAlive), 'the end of a PostgreSQL server')
}

/** Starts two servers below a folder, with synchronous commit. */
export async function startPair (t: Pick<Test, 'teardown'>, folder: string): Promise<Pair> {
  const folders = [join(folder, 'one'), join(folder, 'two')] as const
  const created = await startEmbeddedPostgres({ dataDir: folders[0], log: () => {} })
  const [serverUrl, adminUrl] = [new URL(created.url), new URL(superuserUrl(folders[0], created.url))]
  await created.stop()
  const account = await chooseAccount(folders[0])
  const installation = { binaries: await locateBinaries(account), account }

  let primary = startNode(t, folders[0], await freePort(), installation)
  let standby: Node | null = null
  const gate = await startGate(t, primary.port)
  serverUrl.searchParams.delete('host')
  serverUrl.host = `127.0.0.1:${gate.port}`
  adminUrl.searchParams.delete('host')

  const connect = <T>({ port }: Node, work: (client: pg.Client) => Promise<T>) => {
    const url = new URL(adminUrl)
    url.port = String(port)
    return withConnection(url.href, work)
  }
  const ask = <Row extends object>(node: Node, text: string) =>
    connect(node, async (client) => (await client.query<Row>(text)).rows)
  const waitForNode = (node: Node, condition: string) => until(async () => {
    for (const { child, output } of [node, ...(standby === null ? [] : [standby])]) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}:\n${output()}`)
    }
    return (await ask<{ ok: boolean }>(node, `select ${condition} as ok`).catch(() => []))[0]?.ok
  }, condition, { output: node.output, ms: WAIT_MS })

  async function addStandby (): Promise<void> {
    const dataDir = folders[primary.dataDir === folders[0] ? 1 : 0]
    const label = await connect(primary, async (client) => {
      await client.query("select pg_backup_start('standby', true)")
      await copyCluster(primary.dataDir, dataDir)
      return (await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')).rows[0]?.labelfile ?? ''
    })
    const conninfo = `host=127.0.0.1 port=${primary.port} user=${adminUrl.username} password=${adminUrl.password} application_name=${STANDBY}`
    await writeFile(join(dataDir, 'backup_label'), label)
    await writeFile(join(dataDir, 'standby.signal'), '')
    await writeFile(join(dataDir, 'postgresql.auto.conf'), `primary_conninfo = ${pg.escapeLiteral(conninfo)}\n`)
    if (account !== undefined) await changeOwner(dataDir, account)
    standby = startNode(t, dataDir, await freePort(), installation)
    await waitForNode(primary, "exists (select from pg_stat_replication where state = 'streaming')")
    await ask(primary, `alter system set synchronous_standby_names = '${STANDBY}'`)
    await ask(primary, 'select pg_reload_conf()')
    await waitForNode(primary, "exists (select from pg_stat_replication where sync_state = 'sync')")
  }

  await waitForNode(primary, 'true')
  await addStandby()
  return {
    url: serverUrl.href,
    query: (text) => ask(primary, text),
    addStandby,
    async part () {
      const [sender] = await ask<{ pid: number }>(primary, 'select pid from pg_stat_replication')
      if (sender === undefined) throw new Error('There is no standby')
      process.kill(sender.pid, 'SIGSTOP')
      return () => { process.kill(sender.pid, 'SIGCONT') }
    },
    async fail (how) {
      if (how === 'kill') gate.close()
      else gate.vanish()
      await killNode(primary)
    },
    async promote () {
      if (standby === null) throw new Error('There is no standby to promote')
      await ask(standby, 'select pg_promote()')
      await waitForNode(standby, 'not pg_is_in_recovery()')
      primary = standby
      standby = null
      gate.open(primary.port)
    }
  }
}
