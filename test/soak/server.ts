import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type Socket, io } from 'socket.io-client'
import type { Test } from 'tap'
import { readLockFile } from '../../core/postgres/cluster.ts'
import { readServerState } from '../../core/supervisor/server-state.ts'
import { type Command, listChildren, runSvc, settings, tryFetch, waitUntilListening } from '../e2e/server.ts'
import { until } from '../until.ts'

export const ADMIN = { SVC_ADMIN_USERNAME: 'soak', SVC_ADMIN_PASSWORD: 'soak-tests-only' }
export const AUTHORIZATION = `Basic ${Buffer.from(`${ADMIN.SVC_ADMIN_USERNAME}:${ADMIN.SVC_ADMIN_PASSWORD}`).toString('base64')}`

/** Long enough for a busy machine. */
export const WAIT_MS = 180_000

/** A task in its row. */
export interface ScanRow {
  status: string
  error: string | null
  attempts: number
  scanned: number
  ended_at: Date | null
}

/** A running server, which may be replaced by another process. */
export interface SoakServer {
  command: Command
  url: string
  databaseUrl (): string
  /** Ends of scans that a connected client received. */
  told: string[]
  query<Row extends object> (text: string, values?: unknown[]): Promise<Row[] | null>
  scan (): Promise<string>
  look (task: string): Promise<ScanRow | null>
  databasePid (): Promise<number>
  workerPid (): Promise<number>
  stop (): Promise<void>
}

const LOOK = `select status, error, attempts, ended_at, coalesce((meta -> 'scan_stats' ->> 'scanned_roms')::int, 0) as scanned
  from tasks where id = $1`

function listen (url: string, told: string[]): Socket {
  const socket = io(url, { path: '/ws/socket.io', transports: ['websocket'], reconnectionDelay: 50, reconnectionDelayMax: 100 })
  socket.on('scan:done', () => { told.push('scan:done') })
  socket.on('scan:done_ko', (reason: string) => { told.push(`scan:done_ko ${reason}`) })
  return socket
}

/** Starts `svc` as a person would, on a data directory that may already be in use from an earlier run. */
export async function startServer (
  t: Pick<Test, 'teardown'>, dataDir: string, libraryDir: string, more: Record<string, string> = {}
): Promise<SoakServer> {
  const command = runSvc(t, ['start'], settings(dataDir, {
    ...ADMIN, SVC_LIBRARY_DIR: libraryDir, SVC_LOG_LEVEL: 'warn', WEB_SERVER_CONCURRENCY: '1', ...more
  }))
  const { url } = await waitUntilListening(command, dataDir, WAIT_MS)
  const told: string[] = []
  const socket = listen(url, told)
  t.teardown(() => { socket.disconnect() })
  await until(async () => socket.connected, 'a connected client', { ...command, ms: WAIT_MS })

  const databaseUrl = () => readServerState(dataDir)?.database_url ?? ''

  /** Returns null while the database is unavailable. */
  async function query<Row extends object> (text: string, values: unknown[] = []): Promise<Row[] | null> {
    const client = new pg.Client({ connectionString: databaseUrl() })
    client.on('error', () => { /* the query reports it */ })
    try {
      await client.connect()
      return (await client.query<Row>(text, values)).rows
    } catch {
      // The database was killed, or is not back yet, as these tests provoke.
      return null
    } finally {
      await client.end().catch(() => { /* the connection never began */ })
    }
  }

  return {
    command,
    url,
    databaseUrl,
    told,
    query,
    scan: () => until(async () => {
      // A killed server answers nobody, and the test goes on with its successor.
      if (command.child.signalCode !== null) throw new Error('The server was killed before it took the scan')
      const answer = await tryFetch(`${url}/api/tasks/scan`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'quick', apis: ['gamelist'] })
      })
      return answer?.status === 202 && ((await answer.json()) as { task_id: string }).task_id
    }, 'a scan', { ...command, ms: WAIT_MS }),
    look: async (task) => (await query<ScanRow>(LOOK, [task]))?.[0] ?? null,
    databasePid: async () => Number((await readLockFile(join(dataDir, 'db')))[0]),
    workerPid: () => until(async () => (await listChildren(command.pid, 'worker'))[0], 'the scan worker', { ...command, ms: WAIT_MS }),
    async stop () {
      socket.disconnect()
      command.child.kill('SIGTERM')
      await command.ended
    }
  }
}

/** Deletes all results of scans. */
export async function forgetScans (server: SoakServer, resources: string): Promise<void> {
  await until(() => server.query('delete from platforms'), 'an empty database', server.command)
  await until(() => server.query('delete from tasks'), 'no tasks', server.command)
  await rm(resources, { recursive: true, force: true })
}
