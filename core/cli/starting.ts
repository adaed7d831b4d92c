import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { isDataDirLocked } from '../supervisor/lock.ts'
import { runDir } from '../config/run-dir.ts'
import { readServerState } from '../supervisor/server-state.ts'

/** A first start creates a database, and an upgrade changes one. */
const START_MS = 120_000
const POLL_MS = 200

/** True if a server has locked the data directory but does not listen yet. */
function isStarting (dataDir: string): boolean {
  if (!existsSync(runDir(dataDir)) || !isDataDirLocked(dataDir)) return false
  return (readServerState(dataDir)?.port ?? null) === null
}

/** Waits for a server that is starting, because a command may run right after the start. */
export async function waitForStart ({ data_dir: dataDir }: Pick<Config, 'data_dir'>): Promise<void> {
  if (!isStarting(dataDir)) return
  process.stderr.write('svc: waiting for the server, which is starting\n')
  const deadline = performance.now() + START_MS
  while (isStarting(dataDir) && performance.now() < deadline) await sleep(POLL_MS)
}
