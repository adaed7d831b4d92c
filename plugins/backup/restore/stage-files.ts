import { createWriteStream } from 'node:fs'
import { copyFile, link, mkdir, opendir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { StartError } from '../../../core/errors.ts'
import { errorCode, ifPresent } from '../../../core/files/fs-error.ts'
import { copyObject } from '../../../core/store/move-object.ts'
import { type Store, STORE_FOLDERS } from '../../../core/store/store.ts'
import { openWith } from '../seal-secrets.ts'

/** Avatars, pictures and manuals, whose content changes under their key. */
const REPLACED = /^resources\/|\/profile\/[^/]+$/

/** Secrets in the data directory itself. */
export const SECRET_FILES = ['secret.key', 'config.yml'] as const

/** The sources of the secrets for the new data directory. A secret that the archive lacks comes from the old one. */
export interface SecretSource {
  found: ReadonlyMap<string, Buffer>
  isSealed: boolean
  passphrase: string | undefined
  /** True if the operator chose to restore without them. */
  isSkipped: boolean
}

/** @throws StartError if they cannot be read */
export async function stageSecrets (dataDir: string, newDir: string, source: SecretSource): Promise<void> {
  const { found, isSealed, passphrase, isSkipped } = source
  for (const name of SECRET_FILES) {
    const stored = isSkipped && isSealed ? undefined : found.get(name)
    const content = stored === undefined
      ? await ifPresent(readFile(join(dataDir, name)))
      : isSealed ? await openWith(passphrase ?? '', stored) : stored
    if (content !== null) await writeFile(join(newDir, name), content, { flag: 'wx', mode: 0o600 })
    else if (stored !== undefined) {
      throw new StartError('The secrets of the backup cannot be read: SVC_BACKUP_PASSPHRASE is not the passphrase of the backup. Set ' +
        'the right passphrase, or skip the secrets with --without-secret-key. Nothing was changed.')
    }
  }
}

/** Writes a file of the archive and flushes it to disk. */
export async function stageFile (newDir: string, path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const target = join(newDir, path)
  await mkdir(dirname(target), { recursive: true })
  await pipeline(content, createWriteStream(target, { flags: 'wx', mode: 0o640, flush: true }))
}

/** Copies the staged objects that another store has not in the same size. @param count gets the bytes of each */
export async function copyStaged (
  staged: Store, store: Store, count: (bytes: number) => void, signal: AbortSignal
): Promise<void> {
  for (const folder of STORE_FOLDERS) {
    for await (const { key, size } of staged.list(folder)) {
      signal.throwIfAborted()
      const isSame = !REPLACED.test(key) && (await store.stat(key))?.size === size
      if (!isSame) await copyObject(staged, store, key)
      count(size)
    }
  }
}

async function linkFile (from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (err) {
    if (errorCode(err) === 'EEXIST') return
    // It is another disk, or one without links.
    await copyFile(from, to)
  }
}

/** Links or copies files that a backup skips because they can be downloaded again. Restored files stay. */
export async function copyMissing (oldFolder: string, newFolder: string): Promise<void> {
  const entries = await ifPresent(opendir(oldFolder))
  if (entries === null) return
  await mkdir(newFolder, { recursive: true })
  for await (const entry of entries) {
    const [from, to] = [join(oldFolder, entry.name), join(newFolder, entry.name)]
    if (entry.isDirectory()) await copyMissing(from, to)
    else if (entry.isFile()) await linkFile(from, to)
  }
}
