import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createSemaphore } from '../../semaphore.ts'
import { objectChanged, SizeMismatchError, storeUnavailable } from '../store-errors.ts'
import { countBytes, requireKey } from '../store-key.ts'
import type { ObjectFacts, ObjectSource, StagedObject, Store, StoredObject } from '../store.ts'
import type { S3Address } from './address.ts'
import { createS3Client, DEFAULT_TIMING, S3ConnectionError, S3Error, type S3Timing } from './client.ts'
import { choosePartBytes, copyObject, cutParts, uploadParts } from './multipart.ts'
import { readRange } from './read-range.ts'
import { findText, readEntries } from './xml.ts'

/** The folder of staged objects. No feature uses a folder whose name begins with a dot. */
const STAGED = '.staged'
const DELETES_AT_ONCE = 8
/** Up to this size, such as almost all saves, an upload takes as long as a copy. */
const DIRECT_MAX_BYTES = 4 * 1024 ** 2

/** Refusals that an operator has to mend, with the remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist',
  AccessDenied: 'the credentials do not allow it',
  InvalidAccessKeyId: 'the access key is unknown',
  SignatureDoesNotMatch: 'the secret key is wrong',
  RequestTimeTooSkewed: 'the clock of this machine is wrong'
}

const isMissing = (err: unknown) => err instanceof S3Error && err.status === 404 && err.code !== 'NoSuchBucket'
const isOther = (err: unknown) => err instanceof S3Error && err.status === 412

/** Returns the error for clients. Errors of the source of a content stay as they are. */
function toStoreError (err: unknown): unknown {
  if (err instanceof S3Error) return storeUnavailable(REMEDIES[err.code] ?? err.code, err)
  return err instanceof S3ConnectionError ? storeUnavailable('it does not answer', err) : err
}

async function orUnavailable<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    throw toStoreError(err)
  }
}

const timeOf = (text: string | string[] | undefined) => new Date(Date.parse(String(text)))

async function * joinParts (first: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield * first
  yield * rest
}

/** Creates the store whose objects are in a bucket of S3, or of a server that speaks its protocol. */
export function createS3Store (address: S3Address, timing: S3Timing = DEFAULT_TIMING): Store {
  const client = createS3Client(address, timing)
  const bucket = /^s3:\/\/([^/]+)/.exec(address.name)?.[1] ?? ''
  const toKey = (key: string) => address.prefix + requireKey(key)

  async function readFacts (key: string): Promise<(ObjectFacts & { etag: string }) | null> {
    try {
      const headers = await client.sendForHeaders({ method: 'HEAD', key: toKey(key) })
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

  async function putContent (key: string, source: ObjectSource, size?: number): Promise<void> {
    const content = countBytes(source, (found) => {
      if (size !== undefined && found !== size) throw new SizeMismatchError(key, size, found)
    })
    const parts = cutParts(content, choosePartBytes(size))
    const { value: first = Buffer.alloc(0) } = await parts.next() as IteratorResult<Buffer, undefined>
    const { value: second } = await parts.next() as IteratorResult<Buffer, undefined>
    if (second === undefined) await client.sendForHeaders({ method: 'PUT', key: toKey(key), body: first })
    else await uploadParts(client, toKey(key), joinParts([first, second], parts))
  }

  /** Yields a range and converts errors. */
  async function * readContent (key: string, etag: string, start: number, end: number): AsyncGenerator<Buffer> {
    try {
      yield * readRange(client, { key: toKey(key), etag, start, end })
    } catch (err) {
      throw isMissing(err) || isOther(err) ? objectChanged(key) : toStoreError(err)
    }
  }

  const toObject = ({ etag, ...facts }: ObjectFacts & { etag: string }): StoredObject => ({
    ...facts,
    version: etag.replaceAll('"', ''),
    handle: null,
    read: (start, end) => Readable.from(readContent(facts.key, etag, start, end), { objectMode: false }),
    close: async () => { await Promise.resolve() }
  })

  async function deleteAll (keys: readonly string[]): Promise<void> {
    const semaphore = createSemaphore(DELETES_AT_ONCE)
    await Promise.all(keys.map((key) => semaphore.run(async () => {
      await client.sendForHeaders({ method: 'DELETE', key: toKey(key) }).catch((err: unknown) => {
        if (!isMissing(err)) throw err
      })
    })))
  }

  async function * list (folder: string): AsyncGenerator<ObjectFacts> {
    let token: string | null = null
    do {
      const page = await orUnavailable(() => client.sendForXml({
        method: 'GET',
        key: '',
        query: {
          'list-type': '2',
          'encoding-type': 'url',
          prefix: `${toKey(folder)}/`,
          ...(token === null ? {} : { 'continuation-token': token })
        }
      }))
      // Some servers ignore the wish for an encoding, and then do not name it.
      const isEncoded = findText(page, 'EncodingType') === 'url'
      for (const entry of readEntries(page, 'Contents')) {
        const name = entry.get('Key') ?? ''
        const key = isEncoded ? decodeURIComponent(name.replaceAll('+', ' ')) : name
        yield {
          key: key.slice(address.prefix.length), size: Number(entry.get('Size')), modifiedAt: timeOf(entry.get('LastModified'))
        }
      }
      token = findText(page, 'IsTruncated') === 'true' ? findText(page, 'NextContinuationToken') : null
    } while (token !== null)
  }

  /** Aborts uploads of killed processes. Their parts cost space, and no list shows them. */
  async function abortUploads (before: Date): Promise<number> {
    const texts = await client.sendForXml({ method: 'GET', key: '', query: { uploads: '', prefix: address.prefix } })
      .catch((err: unknown) => {
        // A server without this list deletes unfinished uploads itself.
        if (err instanceof S3Error && err.code === 'NotImplemented') return []
        throw err
      })
    const old = readEntries(texts, 'Upload').filter((upload) => timeOf(upload.get('Initiated')) < before)
    for (const upload of old) {
      await client.sendForHeaders({ method: 'DELETE', key: upload.get('Key') ?? '', query: { uploadId: upload.get('UploadId') ?? '' } })
        .catch((err: unknown) => { if (!isMissing(err)) throw err })
    }
    return old.length
  }

  return {
    folder: null,
    name: address.name,
    put: (key, source, size) => orUnavailable(() => putContent(key, source, size)),

    /** Uploads a large file now, so that the publication in a transaction is always one short request. */
    async stage (path): Promise<StagedObject> {
      const { size } = await stat(path)
      if (size <= DIRECT_MAX_BYTES) {
        return {
          publish: (key) => orUnavailable(() => putContent(key, createReadStream(path), size)),
          discard: () => rm(path, { force: true })
        }
      }
      const staged = `${STAGED}/${randomUUID()}`
      await orUnavailable(() => putContent(staged, createReadStream(path), size))
      return {
        publish: (key) => orUnavailable(() => copyObject(client, { bucket, key: toKey(staged), size }, toKey(key))),
        async discard () {
          await rm(path, { force: true })
          // The cleanup deletes what stays because the store does not answer now.
          await deleteAll([staged]).catch(() => {})
        }
      }
    },

    async get (key) {
      const facts = await readFacts(key)
      return facts === null ? null : toObject(facts)
    },

    async stat (key) {
      const facts = await readFacts(key)
      return facts === null ? null : { key, size: facts.size, modifiedAt: facts.modifiedAt }
    },

    delete: (keys) => orUnavailable(() => deleteAll(keys)),
    list,

    async sweep (before) {
      const old: string[] = []
      for await (const { key, modifiedAt } of list(STAGED)) if (modifiedAt < before) old.push(key)
      await orUnavailable(() => deleteAll(old))
      return old.length + await orUnavailable(() => abortUploads(before))
    }
  }
}
