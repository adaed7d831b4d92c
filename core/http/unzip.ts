import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceDownError, type ZipMember } from '@svc/plugin-sdk'
import { type Entry, openPromise } from 'yauzl'

/** Beyond this a member is a bomb: a file of text shrinks to a tenth or a twentieth. */
const RATIO_MAX = 1_000
const RATIO_FROM_BYTES = 10 * 1024 * 1024
const MEMBER_MAX_BYTES = 16 * 1024 ** 3

function checkMember ({ fileName, uncompressedSize, compressedSize }: Entry): void {
  const isBomb = uncompressedSize > RATIO_FROM_BYTES && uncompressedSize > compressedSize * RATIO_MAX
  if (uncompressedSize > MEMBER_MAX_BYTES || isBomb) {
    throw new ServiceDownError(`'${fileName}' in the downloaded zip unpacks to ${uncompressedSize} bytes, which is too much`)
  }
}

/**
 * The wanted members of a zip that `download` brings, which is deleted when they were read.
 *
 * @throws ServiceDownError when it is no zip or a member is far too large, and what `download` throws
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

/** The bytes of a member; that they are not what the zip says of them shows only here. */
async function * readMember (chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    yield * chunks
  } catch (err) {
    throw new ServiceDownError(`'${name}' in the downloaded zip cannot be read; try again later`, { cause: err })
  }
}

async function * readMembers (file: string, members: readonly string[]): AsyncGenerator<ZipMember> {
  const zip = await openPromise(file, { autoClose: false, lazyEntries: true }).catch((err: unknown) => {
    throw new ServiceDownError('what was downloaded is no zip that can be read; try again later', { cause: err })
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
