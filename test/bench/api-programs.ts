import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { migrate } from '../../core/database/database.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { WEB_FLAGS } from '../../core/process/node-flags.ts'
import { features } from '../../plugins/index.ts'
import { listChildren, runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { SECRET_KEY, linkFiles, writeFiles } from './api-files.ts'
import { fillLibrary } from './api-library.ts'
import type { BareOrder } from './bare-program.ts'
import { untilComplete } from './complete.ts'
import type { Ends } from './cleanup.ts'

/** The address of a program, and the processes that answer. A busy server may start more of them. */
export interface Program { url: string, listPids (): Promise<readonly number[]> }

const filesIn = (ends: Ends) => join(ends.folder, 'files')

async function startBare (order: BareOrder, ends: Ends): Promise<Program> {
  const child = fork(fileURLToPath(new URL('bare-program.ts', import.meta.url)), [], { execArgv: WEB_FLAGS })
  ends.add(() => child.kill())
  child.send(order)
  const [port] = await once(child, 'message') as [number]
  return { url: `http://127.0.0.1:${port}`, listPids: async () => child.pid === undefined ? [] : [child.pid] }
}

async function startServer (databaseUrl: string, workers: number, ends: Ends): Promise<Program> {
  const folder = mkdtempSync(join(ends.folder, 'server-'))
  linkFiles(filesIn(ends), { libraryDir: join(folder, 'library'), dataDir: folder })
  const teardown = (end?: () => unknown) => { if (end !== undefined) ends.add(end) }
  const server = runSvc({ teardown }, ['start'], settings(folder, {
    SVC_DATABASE_URL: databaseUrl, SVC_LIBRARY_DIR: join(folder, 'library'), WEB_SERVER_CONCURRENCY: String(workers),
    SVC_LOG_LEVEL: 'warn', SVC_TRUSTED_PROXIES: '127.0.0.1', SVC_AUTH_SECRET_KEY: SECRET_KEY
  }))
  ends.own(server.pid)
  const { url } = await waitUntilListening(server, folder)
  await untilComplete(server, workers)
  return { url, listPids: () => listChildren(server.pid, 'web') }
}

/** Enough for both servers, which have five web workers together, and the bare program. */
const CONNECTIONS = 200

async function startDatabase (roms: number, ends: Ends): Promise<string> {
  const settings = { max_connections: String(CONNECTIONS) }
  const database = await startEmbeddedPostgres({ dataDir: join(ends.folder, 'db'), log: () => {}, settings })
  ends.add(() => database.stop())
  ends.own(database.pid)
  await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  await fillLibrary(pool, roms)
  await pool.end()
  return database.url
}

export type ProgramName = 'one worker' | 'up to four workers' | 'the bare program'

/** The measured programs, on one database. */
export interface Programs {
  /** Starts a program at its first use. */
  find (name: ProgramName): Promise<Program>
  /** Starts a program for this work alone. */
  withNew<T> (name: ProgramName, work: (program: Program) => Promise<T>): Promise<T>
  /** Changes any ROM, as a person would. */
  change (): Promise<void>
}

/** Creates a database with this number of ROMs. */
export async function createPrograms (roms: number, ends: Ends): Promise<Programs> {
  const url = await startDatabase(roms, ends)
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  ends.add(() => pool.end())
  writeFiles(filesIn(ends))
  const started = createMemo()
  const start: Record<ProgramName, (ends: Ends) => Promise<Program>> = {
    'one worker': (ends) => startServer(url, 1, ends),
    'up to four workers': (ends) => startServer(url, 4, ends),
    'the bare program': (ends) => startBare({ databaseUrl: url, folder: filesIn(ends) }, ends)
  }
  return {
    find: (name) => started(name, () => start[name](ends)),

    async withNew (name, work) {
      const own: (() => unknown)[] = []
      try {
        return await work(await start[name]({ ...ends, add: (end) => { own.unshift(end) } }))
      } finally {
        for (const end of own) await end()
      }
    },

    async change () {
      await pool.query('update roms set summary = summary where id = (select 1 + floor(random() * $1)::int)', [roms])
    }
  }
}
