import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A process or folder that a killed benchmark leaves behind, unless the keeper ends it. */
export interface Leftover { pid?: number, folder?: string }

export interface Ends {
  /** A temporary folder of this run. */
  folder: string
  /** Adds a function to call at the end, last added first. */
  add (end: () => unknown): void
  /** Registers another process to end if this one is killed, last registered first. */
  own (pid: number): void
}

/** Runs work and then ends what it registered, whether it succeeds, fails or is killed. */
export async function withEnds<T> (work: (ends: Ends) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  // The keeper has a group of its own, because Ctrl-C is meant for this process.
  const keeper = fork(fileURLToPath(new URL('cleanup-process.ts', import.meta.url)), [], {
    detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc']
  })
  const keep = (one: Leftover) => { keeper.send(one) }
  const all: (() => unknown)[] = []
  keep({ folder })
  try {
    return await work({
      folder,
      add (end) { all.unshift(end) },
      own (pid) { keep({ pid }) }
    })
  } finally {
    for (const end of all) await end()
    rmSync(folder, { recursive: true, force: true })
    keeper.kill()
  }
}
