import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { EXIT_CODES, StartError } from '../../../core/errors.ts'
import { isPresent } from '../../../core/files/safe-path.ts'
import { syncFolder } from '../../../core/files/sync-folder.ts'
import { writePrivate } from '../../../core/files/write-like.ts'
import { lockDataDir } from '../../../core/supervisor/lock.ts'
import { maintenanceUrl, swapDatabases, withClient } from '../rows.ts'
import { journalOf, newDirOf, stagingOf } from './journal.ts'

const SwapSchema = Type.Object({
  /** Entries of the data directory to replace. */
  names: Type.Array(Type.String()),
  /** Folder in the data directory for the former entries. */
  kept: Type.String(),
  /** Null for the embedded database, which is one of the entries. */
  database: Type.Union([Type.Null(), Type.Object({
    url: Type.String(), name: Type.String(), fresh: Type.String(), kept: Type.String()
  })])
})
export type Swap = Static<typeof SwapSchema>

/** Commits the swap by writing its journal. After a crash from here on, the next command finishes the swap. */
export async function commitSwap (dataDir: string, swap: Swap): Promise<void> {
  const file = journalOf(dataDir)
  const part = `${file}.part`
  await writePrivate(part, JSON.stringify(swap))
  await syncFolder(newDirOf(dataDir))
  await rename(part, file)
  await syncFolder(dirname(file))
}

/**
 * Moves one entry. It can be repeated at any point, because an entry that is still in staging has not been moved yet.
 */
async function move (dataDir: string, name: string, kept: string): Promise<void> {
  const [fresh, place, old] = [join(newDirOf(dataDir), name), join(dataDir, name), join(dataDir, kept, name)]
  if (!await isPresent(fresh)) return
  if (await isPresent(place) && !await isPresent(old)) {
    await mkdir(dirname(old), { recursive: true, mode: 0o700 })
    await rename(place, old)
    await syncFolder(dirname(old))
  }
  await rename(fresh, place)
}

async function readSwap (dataDir: string): Promise<Swap> {
  const file = journalOf(dataDir)
  const swap: unknown = JSON.parse(await readFile(file, 'utf8'))
  if (Value.Check(SwapSchema, swap)) return swap
  throw new StartError(`${file} is not a valid file of svc restore. Move ${stagingOf(dataDir)} away and restore again.`)
}

/** Finishes a committed swap. Only the holder of the lock on the data directory may call it. */
export async function finishSwap (dataDir: string): Promise<void> {
  const { names, kept, database } = await readSwap(dataDir)
  if (database !== null) {
    const swapping = withClient(maintenanceUrl(database.url), (tx) => swapDatabases(tx, database))
    await swapping.catch((err: unknown) => {
      throw new StartError(`The restored database ${database.fresh} cannot replace ${database.name}: ${(err as Error).message}. ` +
        'Stop all programs that are connected to it, then repeat this command.', { cause: err })
    })
  }
  for (const name of names) await move(dataDir, name, kept)
  await syncFolder(dataDir)
  await rm(journalOf(dataDir))
  await rm(stagingOf(dataDir), { recursive: true, force: true })
}

/** Finishes a committed swap that was interrupted. @throws StartError while a restore is running */
export async function resumeInterruptedSwap (dataDir: string): Promise<void> {
  const lock = lockDataDir(dataDir)
  if (lock === null) throw new StartError(`A restore into ${dataDir} is running. Repeat this command after it has ended.`, { exitCode: EXIT_CODES.temporary })
  try {
    if (existsSync(journalOf(dataDir))) await finishSwap(dataDir)
  } finally {
    lock.release()
  }
}
