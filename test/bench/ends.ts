import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What is left behind when a benchmark is killed, unless somebody else ends it. */
export interface Kept { pid?: number, folder?: string }

export interface Ends {
  /** A temporary folder of this run. */
  folder: string
  /** Is called at the end, the last first. */
  add (end: () => unknown): void
  /** Ends another process, the last first, when this one is killed meanwhile. */
  own (pid: number): void
}

/** Does some work and then ends what it began, whether it succeeds, fails or is killed. */
export async function withEnds<T> (work: (ends: Ends) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  // In a group of its own: Ctrl-C is meant for this process.
  const keeper = fork(fileURLToPath(new URL('keeper.ts', import.meta.url)), [], {
    detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc']
  })
  const keep = (one: Kept) => { keeper.send(one) }
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
