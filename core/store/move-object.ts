import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { requireFreeSpace } from '../files/free-space.ts'
import type { Store, StoredObject } from './store.ts'

/**
 * Copies an object to the same or another key of a store.
 *
 * @returns its size; null if there is no such object
 */
export async function copyObject (from: Store, to: Store, key: string, newKey = key): Promise<number | null> {
  const object = await from.get(key)
  if (object === null) return null
  try {
    await to.put(newKey, object.read(0, object.size), object.size)
    return object.size
  } finally {
    await object.close()
  }
}

/** Gives an object another key. @returns false if there is no such object */
export async function moveObject (store: Store, from: string, to: string): Promise<boolean> {
  if (store.folder !== null) {
    if (await store.stat(from) === null) return false
    await (await store.stage(join(store.folder, from))).publish(to)
    return true
  }
  if (await copyObject(store, store, from, to) === null) return false
  await store.delete([from])
  return true
}

/**
 * Runs work that needs a file on this machine, such as reading a zip.
 *
 * @param folder where a temporary copy is written if the object is on another machine
 */
export async function withLocalFile<T> (
  { folder: ownFolder }: Store, object: StoredObject, folder: string, work: (path: string) => Promise<T>
): Promise<T> {
  if (ownFolder !== null) return await work(join(ownFolder, object.key))
  await requireFreeSpace(folder, object.size)
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${randomUUID()}.part`)
  try {
    await pipeline(object.read(0, object.size), createWriteStream(path, { flags: 'wx' }))
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}
