import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { ApiError } from '../../../core/errors.ts'
import { readStoreAddress } from '../../../core/store/s3/address.ts'
import { createS3Store } from '../../../core/store/s3/s3-store.ts'
import type { Store } from '../../../core/store/store.ts'
import { CREDENTIALS, type S3Server } from './s3-server.ts'

export const UNAVAILABLE = { constructor: ApiError, code: 'UNAVAILABLE', statusCode: 503 }
export const MIB = 1024 ** 2
/** Names that need quoting somewhere: in URLs, in XML and in signatures. */
export const KEYS = ['a/plain', 'a/with space+plus', 'a/per%20cent', 'b/<amp;&>"quotes"', "b/it's (1)!*~.sfc", 'b/ünï/日本語 🎮', 'c/q?x=1#f&y']
export const CREDENTIAL_SETTINGS = { access_key_id: CREDENTIALS.id, secret_access_key: CREDENTIALS.secret }

export const s3Of = (server: S3Server, settings = CREDENTIAL_SETTINGS) =>
  createS3Store(readStoreAddress(server.url, settings), { silenceMs: 300, sleep: async () => { await turn() } })

export async function readAll (store: Store, key: string): Promise<Buffer | null> {
  const object = await store.get(key)
  if (object === null) return null
  try {
    return await buffer(object.read(0, object.size))
  } finally {
    await object.close()
  }
}

export async function listAll (store: Store, folder: string): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for await (const { key, size } of store.list(folder)) found.set(key, size)
  return found
}

export async function stageFile (store: Store, folder: string, content: Buffer) {
  const path = join(folder, randomBytes(8).toString('hex'))
  await writeFile(path, content)
  return await store.stage(path)
}

export const key = fc.constantFrom(...KEYS)
export const content = fc.uint8Array({ maxLength: 300 })
