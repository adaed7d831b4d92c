import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceDownError, type ZipMember } from '@svc/plugin-sdk'
import { type Entry, openPromise } from 'yauzl'

/** A member with a higher ratio is a zip bomb: text files shrink to a tenth or a twentieth. */
const RATIO_MAX = 1_000
const RATIO_FROM_BYTES = 10 * 1024 * 1024
const MEMBER_MAX_BYTES = 16 * 1024 ** 3

function checkMember ({ fileName, uncompressedSize, compressedSize }: Entry): void {
  const isBomb = uncompressedSize > RATIO_FROM_BYTES && uncompressedSize > compressedSize * RATIO_MAX
  if (uncompressedSize > MEMBER_MAX_BYTES || isBomb) {
    throw new ServiceDownError(`'${fileName}' in the downloaded zip unpacks to ${uncompressedSize} bytes, which is more than the server accepts`)
  }
}

/**
 * Yields the wanted members of a zip that `download` fetches, and deletes the zip afterwards.
 *
 * @throws ServiceDownError if it is no zip or a member is far too large, and the errors of `download`
 */
export async function * unzip (
  download: (toFile: string) => Promise<unknown>, members: readonly string[], tempDir: string
): AsyncGenerator<ZipMember> {
  const folder = await mkdtemp(join(tempDir, 'unzip-'))
  try {
    const file = join(folder, 'download.zip')
    await download(file)
    yield * readMembers(file, members)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Yields the bytes of a member. Content that differs from the zip's directory is detected only here. */
async function * readMember (chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    yield * chunks
  } catch (err) {
    throw new ServiceDownError(`'${name}' in the downloaded zip cannot be read; try again later`, { cause: err })
  }
}

async function * readMembers (file: string, members: readonly string[]): AsyncGenerator<ZipMember> {
  const zip = await openPromise(file, { autoClose: false, lazyEntries: true }).catch((err: unknown) => {
    throw new ServiceDownError('the downloaded file is not a readable zip; try again later', { cause: err })
  })
  try {
    for await (const entry of zip.eachEntry()) {
      if (!members.includes(entry.fileName)) continue
      checkMember(entry)
      const { fileName: name, uncompressedSize: size } = entry
      const stream = await zip.openReadStreamPromise(entry)
      try {
        yield { name, size, chunks: readMember(stream as AsyncIterable<Buffer>, name) }
      } finally {
        stream.destroy()
      }
    }
  } finally {
    zip.close()
  }
}
