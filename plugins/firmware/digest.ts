import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { Digest } from '../../core/archives/digest.ts'
import type { Hashes } from '../../core/archives/types.ts'

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

/**
 * Computes the hashes of a file's own bytes, because emulators load the archive itself and lists of known dumps name
 * it.
 */
export async function digestFile (path: string, signal: AbortSignal): Promise<Hashes> {
  const handle = await open(path, FLAGS)
  const digest = new Digest()
  for await (const chunk of handle.createReadStream({ signal }) as AsyncIterable<Buffer>) digest.update(chunk)
  return digest.hashes()
}
