import { S3Error, type S3Client, encodeKey } from './client.ts'
import { escapeXml, findText } from './xml.ts'

/** Size of a part. S3 demands at least 5 MiB, and each upload holds two parts in memory. */
export const PART_BYTES = 8 * 1024 ** 2
/** S3 allows 10,000 parts. */
const PARTS_MAX = 9_000
/** The most that one copy request may copy. */
const COPY_MAX_BYTES = 5 * 1024 ** 3
const COPY_PART_BYTES = 1024 ** 3

/** Returns the part size for a content. @param size undefined if it is not known */
export const choosePartBytes = (size: number | undefined): number =>
  Math.max(PART_BYTES, Math.ceil((size ?? 0) / PARTS_MAX))

/** Cuts content into parts of the same size; the last one may be smaller. Content without bytes has no part. */
export async function * cutParts (content: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Buffer> {
  let chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of content) {
    let rest = chunk
    while (size + rest.length >= bytes) {
      const cut = bytes - size
      yield Buffer.concat([...chunks, rest.subarray(0, cut)])
      rest = rest.subarray(cut)
      chunks = []
      size = 0
    }
    if (rest.length > 0) chunks.push(rest)
    size += rest.length
  }
  if (size > 0) yield Buffer.concat(chunks)
}

/** Uploads one part. @returns its ETag */
type PutPart = (upload: { uploadId: string, partNumber: string }) => Promise<string>

const toCompletion = (tags: readonly string[]) => Buffer.from(`<CompleteMultipartUpload>${tags.map((tag, index) =>
  `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`).join('')}</CompleteMultipartUpload>`)

/** True if the object has this size, as after a completion whose answer was lost. */
async function isComplete (client: S3Client, key: string, size: number): Promise<boolean> {
  const headers = await client.sendForHeaders({ method: 'HEAD', key }).catch(() => null)
  return Number(headers?.['content-length']) === size
}

/** Runs an upload of many parts. Nothing remains of it if it fails. @param countSize returns the size of all parts */
async function runUpload (
  client: S3Client, key: string, parts: AsyncIterable<PutPart>, countSize: () => number
): Promise<void> {
  const created = await client.sendForXml({ method: 'POST', key, query: { uploads: '' } })
  const uploadId = findText(created, 'UploadId') ?? ''
  try {
    const tags: string[] = []
    for await (const putPart of parts) tags.push(await putPart({ uploadId, partNumber: String(tags.length + 1) }))
    await client.sendForXml({ method: 'POST', key, query: { uploadId }, body: toCompletion(tags), isSlow: true })
  } catch (err) {
    if (err instanceof S3Error && err.code === 'NoSuchUpload' && await isComplete(client, key, countSize())) return
    // The cleanup aborts an upload that cannot be aborted now.
    await client.sendForHeaders({ method: 'DELETE', key, query: { uploadId } }).catch(() => {})
    throw err
  }
}

/** Uploads content in parts. */
export async function uploadParts (client: S3Client, key: string, parts: AsyncIterable<Buffer>): Promise<void> {
  let size = 0
  async function * putParts (): AsyncGenerator<PutPart> {
    for await (const body of parts) {
      size += body.length
      yield async (query) => {
        const { etag } = await client.sendForHeaders({ method: 'PUT', key, query, body })
        return String(etag)
      }
    }
  }
  await runUpload(client, key, putParts(), () => size)
}

/** Copies an object within the bucket, without reading it. */
export async function copyObject (
  client: S3Client, from: { bucket: string, key: string, size: number }, key: string
): Promise<void> {
  const source = { 'x-amz-copy-source': `/${encodeKey(`${from.bucket}/${from.key}`)}` }
  if (from.size <= COPY_MAX_BYTES) {
    await client.sendForXml({ method: 'PUT', key, headers: source, isSlow: true })
    return
  }
  async function * copyParts (): AsyncGenerator<PutPart> {
    for (let start = 0; start < from.size; start += COPY_PART_BYTES) {
      const end = Math.min(start + COPY_PART_BYTES, from.size) - 1
      yield async (query) => {
        const texts = await client.sendForXml({
          method: 'PUT',
          key,
          query,
          headers: { ...source, 'x-amz-copy-source-range': `bytes=${start}-${end}` },
          isSlow: true
        })
        return findText(texts, 'ETag') ?? ''
      }
    }
  }
  await runUpload(client, key, copyParts(), () => from.size)
}
