import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { objectChanged } from '../store-errors.ts'
import type { ObjectFacts, StagedObject, Store, StoredObject } from '../store.ts'
import type { S3Address } from './address.ts'
import {
  type Bucket, abortUploads, deleteObjects, keyIn, listNames, listObjects, putContent, readFacts
} from './bucket.ts'
import { DEFAULT_TIMING, type S3Timing, createS3Client } from './client.ts'
import { copyObject } from './multipart.ts'
import { readRange } from './read-range.ts'
import { isMissing, isReplaced, orUnavailable, toStoreError } from './s3-errors.ts'

/** The folder of staged objects. No feature uses a folder whose name begins with a dot. */
const STAGED = '.staged'
/** Up to this size, such as almost all saves, an upload takes as long as a copy. */
const DIRECT_MAX_BYTES = 4 * 1024 ** 2

/** An object with the tag of the content that is read. */
type TaggedFacts = ObjectFacts & { etag: string }

/** Yields a range of an object and converts errors. */
async function * readContent (
  bucket: Bucket, { key, etag }: TaggedFacts, start: number, end: number
): AsyncGenerator<Buffer> {
  try {
    yield * readRange(bucket.client, { key: keyIn(bucket, key), etag, start, end })
  } catch (err) {
    throw isMissing(err) || isReplaced(err) ? objectChanged(key) : toStoreError(err)
  }
}

function toObject (bucket: Bucket, facts: TaggedFacts): StoredObject {
  const { key, size, modifiedAt, etag } = facts
  return {
    key,
    size,
    modifiedAt,
    version: etag.replaceAll('"', ''),
    handle: null,
    read: (start, end) => Readable.from(readContent(bucket, facts, start, end), { objectMode: false }),
    // Nothing is open between two reads.
    close: async () => {}
  }
}

/** Uploads a large file now, so that the publication in a transaction is always one short request. */
async function stageFile (bucket: Bucket, name: string, path: string): Promise<StagedObject> {
  const { size } = await stat(path)
  const upload = (key: string) => orUnavailable(() => putContent(bucket, key, createReadStream(path), size))
  if (size <= DIRECT_MAX_BYTES) return { publish: upload, discard: () => rm(path, { force: true }) }
  const staged = `${STAGED}/${randomUUID()}`
  await upload(staged)
  return {
    publish: (key) => orUnavailable(() =>
      copyObject(bucket.client, { bucket: name, key: keyIn(bucket, staged), size }, keyIn(bucket, key))),
    async discard () {
      await rm(path, { force: true })
      // The cleanup deletes what stays because the store does not answer now.
      await deleteObjects(bucket, [staged]).catch(() => {})
    }
  }
}

async function sweep (bucket: Bucket, before: Date): Promise<number> {
  const old: string[] = []
  for await (const { key, modifiedAt } of listObjects(bucket, STAGED)) if (modifiedAt < before) old.push(key)
  return await orUnavailable(async () => {
    await deleteObjects(bucket, old)
    return old.length + await abortUploads(bucket, before)
  })
}

/** Creates the store whose objects are in a bucket of S3, or of a server that speaks its protocol. */
export function createS3Store (address: S3Address, timing: S3Timing = DEFAULT_TIMING): Store {
  const bucket: Bucket = { client: createS3Client(address, timing), prefix: address.prefix }
  return {
    folder: null,
    name: address.name,
    put: (key, source, size) => orUnavailable(() => putContent(bucket, key, source, size)),
    stage: (path) => stageFile(bucket, address.bucket, path),

    async get (key) {
      const facts = await readFacts(bucket, key)
      return facts === null ? null : toObject(bucket, facts)
    },

    async stat (key) {
      const facts = await readFacts(bucket, key)
      return facts === null ? null : { key, size: facts.size, modifiedAt: facts.modifiedAt }
    },

    delete: (keys) => orUnavailable(() => deleteObjects(bucket, keys)),
    list: (folder) => listObjects(bucket, folder),
    listNames: (folder) => listNames(bucket, folder),
    sweep: (before) => sweep(bucket, before)
  }
}
