import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isDataDirLocked } from './lock.ts'
import { runDir } from '../config/run-dir.ts'

/** The state of the running server for other commands on the same machine; only its user can read the file. */
const ServerStateSchema = Type.Object({
  pid: Type.Integer(),
  started_at: Type.String(),
  /** Null until the server listens. */
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

/** Returns the last written state, whose server may have ended; null if there is none that can be read. */
export function readLastState (dataDir: string): ServerState | null {
  const file = stateFile(dataDir)
  if (!existsSync(file)) return null
  try {
    const state: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Value.Check(ServerStateSchema, state) ? state : null
  } catch (err) {
    // A manual edit or a full disk left invalid content; treated as no file.
    if (err instanceof SyntaxError) return null
    throw err
  }
}

/** Returns the state of the server that runs on this data directory now; null if there is none. */
export function readServerState (dataDir: string): ServerState | null {
  return existsSync(runDir(dataDir)) && isDataDirLocked(dataDir) ? readLastState(dataDir) : null
}
