import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { requireKey } from './store-key.ts'
import type { Store } from './store.ts'

/** Stores content under keys, and replaces objects that have the keys. */
export interface StoreWriter {
  /** Moves a complete local file, which must be on the disk of the store's folder, if there is one. */
  move (path: string, key: string): Promise<void>
  put (content: Buffer, key: string): Promise<void>
}

async function syncFile (path: string): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function uploadFile (store: Store, path: string, key: string): Promise<void> {
  const { size } = await stat(path)
  await store.put(key, createReadStream(path), size)
  await rm(path, { force: true })
}

/** Creates the writer for content that nobody can make again, such as uploads. It survives a power cut. */
export const createSyncedWriter = (store: Store): StoreWriter => ({
  async move (path, key) {
    if (store.folder === null) return await uploadFile(store, path, key)
    await syncFile(path)
    await (await store.stage(path)).publish(key)
  },
  put: (content, key) => store.put(key, content, content.length)
})

/** Creates the writer of a folder that syncs nothing. */
function createUnsyncedWriter (folder: string): StoreWriter {
  async function move (path: string, key: string): Promise<void> {
    const target = join(folder, requireKey(key))
    await mkdir(dirname(target), { recursive: true })
    await rename(path, target)
  }

  return {
    move,
    async put (content, key) {
      const target = join(folder, requireKey(key))
      await mkdir(dirname(target), { recursive: true })
      const part = join(dirname(target), `.${randomUUID()}.tmp`)
      try {
        await writeFile(part, content, { flag: 'wx' })
        await rename(part, target)
      } catch (err) {
        await rm(part, { force: true })
        throw err
      }
    }
  }
}

/**
 * Creates the writer for content that can be fetched or made again. On a disk it syncs nothing, because that would take
 * most of the time of a scan.
 */
export const createFastWriter = (store: Store): StoreWriter =>
  store.folder === null ? createSyncedWriter(store) : createUnsyncedWriter(store.folder)
