import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { Digest } from '../../core/archives/digest.ts'
import type { Hashes } from '../../core/archives/types.ts'

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

/** The hashes of a file's own bytes: what an emulator loads is the archive, and known dumps are listed as that. */
export async function digestFile (path: string, signal: AbortSignal): Promise<Hashes> {
  const handle = await open(path, FLAGS)
  const digest = new Digest()
  for await (const chunk of handle.createReadStream({ signal }) as AsyncIterable<Buffer>) digest.update(chunk)
  return digest.hashes()
}
