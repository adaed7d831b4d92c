import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isDataDirLocked } from './lock.ts'
import { runDir } from '../config/run-dir.ts'

/** What the running server tells other commands on the same machine; the file is for its owner only. */
const ServerStateSchema = Type.Object({
  pid: Type.Integer(),
  started_at: Type.String(),
  /** Null until it listens. */
  url: Type.Union([Type.String(), Type.Null()]),
  port: Type.Union([Type.Integer(), Type.Null()]),
  database_url: Type.String()
})
export type ServerState = Static<typeof ServerStateSchema>

const stateFile = (dataDir: string) => join(runDir(dataDir), 'server.json')

export function writeServerState (dataDir: string, state: ServerState): void {
  const file = stateFile(dataDir)
  const part = `${file}.part`
  rmSync(part, { force: true })
  writeFileSync(part, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(part, file)
}

export function removeServerState (dataDir: string): void {
  rmSync(stateFile(dataDir), { force: true })
}

/** What was last written, by a server that may be gone; null when that is nothing readable. */
export function readLastState (dataDir: string): ServerState | null {
  const file = stateFile(dataDir)
  if (!existsSync(file)) return null
  try {
    const state: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Value.Check(ServerStateSchema, state) ? state : null
  } catch (err) {
    // Someone's editing, or a disk that was full: as good as no file.
    if (err instanceof SyntaxError) return null
    throw err
  }
}

/** The state of the server that runs on this data directory now; null when none does. */
export function readServerState (dataDir: string): ServerState | null {
  return existsSync(runDir(dataDir)) && isDataDirLocked(dataDir) ? readLastState(dataDir) : null
}
