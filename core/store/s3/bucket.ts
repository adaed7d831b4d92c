import { createSemaphore } from '../../semaphore.ts'
import { SizeMismatchError } from '../store-errors.ts'
import { countBytes, requireKey } from '../store-key.ts'
import type { ObjectFacts, ObjectSource } from '../store.ts'
import { type S3Client, S3Error } from './client.ts'
import { choosePartBytes, cutParts, uploadParts } from './multipart.ts'
import { isMissing, orUnavailable, toStoreError } from './s3-errors.ts'
import { findText, readEntries } from './xml.ts'

/** The part of a bucket that belongs to a store. */
export interface Bucket {
  client: S3Client
  /** The beginning of all keys. */
  prefix: string
}

const DELETES_AT_ONCE = 8

/** Returns the key in the bucket of an object. @throws PathRefusedError */
export const keyIn = ({ prefix }: Bucket, key: string): string => prefix + requireKey(key)

const timeOf = (text: string | string[] | undefined) => new Date(Date.parse(String(text)))

/** Returns the facts of an object; null if there is none. */
export async function readFacts (bucket: Bucket, key: string): Promise<(ObjectFacts & { etag: string }) | null> {
  try {
    const headers = await bucket.client.sendForHeaders({ method: 'HEAD', key: keyIn(bucket, key) })
    return {
      key,
      size: Number(headers['content-length']),
      modifiedAt: timeOf(headers['last-modified']),
      etag: String(headers.etag)
    }
  } catch (err) {
    if (isMissing(err)) return null
    throw toStoreError(err)
  }
}

async function * joinParts (first: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield * first
  yield * rest
}

/** Stores an object. Content that fits into one part takes one request. */
export async function putContent (bucket: Bucket, key: string, source: ObjectSource, size?: number): Promise<void> {
  const { client } = bucket
  const target = keyIn(bucket, key)
  const content = countBytes(source, (found) => {
    if (size !== undefined && found !== size) throw new SizeMismatchError(key, size, found)
  })
  const parts = cutParts(content, choosePartBytes(size))
  const { value: first = Buffer.alloc(0) } = await parts.next() as IteratorResult<Buffer, undefined>
  const { value: second } = await parts.next() as IteratorResult<Buffer, undefined>
  if (second === undefined) await client.sendForHeaders({ method: 'PUT', key: target, body: first })
  else await uploadParts(client, target, joinParts([first, second], parts))
}

/** Deletes objects; missing ones are no error. */
export async function deleteObjects (bucket: Bucket, keys: readonly string[]): Promise<void> {
  const semaphore = createSemaphore(DELETES_AT_ONCE)
  await Promise.all(keys.map((key) => semaphore.run(async () => {
    await bucket.client.sendForHeaders({ method: 'DELETE', key: keyIn(bucket, key) }).catch((err: unknown) => {
      if (!isMissing(err)) throw err
    })
  })))
}

/** Yields the objects in a folder and in its folders. */
export async function * listObjects (bucket: Bucket, folder: string): AsyncGenerator<ObjectFacts> {
  const query = { 'list-type': '2', 'encoding-type': 'url', prefix: `${keyIn(bucket, folder)}/` }
  let token: string | null = null
  do {
    const next: Record<string, string> = token === null ? {} : { 'continuation-token': token }
    const page = await orUnavailable(() => bucket.client.sendForXml({ method: 'GET', key: '', query: { ...query, ...next } }))
    // Some servers ignore the wish for an encoding, and then do not name it.
    const isEncoded = findText(page, 'EncodingType') === 'url'
    for (const entry of readEntries(page, 'Contents')) {
      const name = entry.get('Key') ?? ''
      const key = isEncoded ? decodeURIComponent(name.replaceAll('+', ' ')) : name
      yield {
        key: key.slice(bucket.prefix.length), size: Number(entry.get('Size')), modifiedAt: timeOf(entry.get('LastModified'))
      }
    }
    token = findText(page, 'IsTruncated') === 'true' ? findText(page, 'NextContinuationToken') : null
  } while (token !== null)
}

/**
 * Aborts uploads of killed processes. Their parts cost space, and no list of objects shows them.
 *
 * @returns their number
 */
export async function abortUploads ({ client, prefix }: Bucket, before: Date): Promise<number> {
  const texts = await client.sendForXml({ method: 'GET', key: '', query: { uploads: '', prefix } })
    .catch((err: unknown) => {
      // A server without this list deletes unfinished uploads itself.
      if (err instanceof S3Error && err.code === 'NotImplemented') return []
      throw err
    })
  const old = readEntries(texts, 'Upload').filter((upload) => timeOf(upload.get('Initiated')) < before)
  for (const upload of old) {
    const query = { uploadId: upload.get('UploadId') ?? '' }
    await client.sendForHeaders({ method: 'DELETE', key: upload.get('Key') ?? '', query }).catch((err: unknown) => {
      if (!isMissing(err)) throw err
    })
  }
  return old.length
}
