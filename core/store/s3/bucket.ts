import { createSemaphore } from '../../concurrency/semaphore.ts'
import { checkSize, requireKey } from '../store-key.ts'
import type { FolderNames, ObjectFacts, ObjectSource } from '../store.ts'
import { type S3Client, S3Error } from './client.ts'
import { choosePartBytes, cutParts, uploadParts } from './multipart.ts'
import { isMissing, orUnavailable, toStoreError } from './s3-errors.ts'
import { type XmlText, findText, readEntries } from './xml.ts'

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
  const parts = cutParts(checkSize(key, source, size), choosePartBytes(size))
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

/** A page of a list, and the function that reads the keys in it. */
interface Page { texts: XmlText[], keyOf: (name: string | undefined) => string }

/** Yields the pages of the list of a folder. */
async function * listPages (
  bucket: Bucket, folder: string, more: Readonly<Record<string, string>> = {}
): AsyncGenerator<Page> {
  const query = { 'list-type': '2', 'encoding-type': 'url', prefix: `${keyIn(bucket, folder)}/`, ...more }
  let token: string | null = null
  do {
    const next: Record<string, string> = token === null ? {} : { 'continuation-token': token }
    const texts = await orUnavailable(() => bucket.client.sendForXml({ method: 'GET', key: '', query: { ...query, ...next } }))
    // Some servers ignore the wish for an encoding, and then do not name it.
    const isEncoded = findText(texts, 'EncodingType') === 'url'
    const decode = (name: string) => isEncoded ? decodeURIComponent(name.replaceAll('+', ' ')) : name
    yield { texts, keyOf: (name = '') => decode(name).slice(bucket.prefix.length) }
    token = findText(texts, 'IsTruncated') === 'true' ? findText(texts, 'NextContinuationToken') : null
  } while (token !== null)
}

/** Yields the objects in a folder and in its folders. */
export async function * listObjects (bucket: Bucket, folder: string): AsyncGenerator<ObjectFacts> {
  for await (const { texts, keyOf } of listPages(bucket, folder)) {
    for (const entry of readEntries(texts, 'Contents')) {
      yield {
        key: keyOf(entry.get('Key')), size: Number(entry.get('Size')), modifiedAt: timeOf(entry.get('LastModified'))
      }
    }
  }
}

/** Lists the names directly in a folder. */
export async function listNames (bucket: Bucket, folder: string): Promise<FolderNames> {
  const names: FolderNames = { objects: [], folders: [] }
  for await (const { texts, keyOf } of listPages(bucket, folder, { delimiter: '/' })) {
    const readNames = (path: string, field: string) =>
      readEntries(texts, path).map((entry) => keyOf(entry.get(field)).slice(folder.length + 1))
    names.objects.push(...readNames('Contents', 'Key'))
    names.folders.push(...readNames('CommonPrefixes', 'Prefix').map((name) => name.replace(/\/$/, '')))
  }
  return names
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
