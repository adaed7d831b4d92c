import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Scans and the watcher leave such folders out. */
const PREFIX = '.svc-convert-'
export const isWorkName = (name: string) => name.startsWith(PREFIX)

/** The name of a folder for what is temporary; no other process has the same, also when it outlives this one. */
export const workName = (romId: number) => `${PREFIX}${romId}-${randomBytes(4).toString('hex')}`

export async function syncPath (path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** An empty folder inside the one for what is temporary. */
export async function makeFolder (...parts: string[]): Promise<string> {
  const path = join(...parts)
  await mkdir(path, { recursive: true })
  return path
}

export const removeFolder = (path: string) => rm(path, { recursive: true, force: true })

/** What tells a file from another one, and from itself after a change. */
export async function factsOf (path: string): Promise<{ inode: string, size: number, mtime: number }> {
  const { ino, size, mtimeMs } = await lstat(path, { bigint: true })
  return { inode: String(ino), size: Number(size), mtime: Number(mtimeMs) }
}
