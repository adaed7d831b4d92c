import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { listRealFolders } from '../library/real-folders.ts'
import { type Hasher, createHasher } from './hasher.ts'
import { DEFAULT_EXCLUDED_EXTENSIONS, DEFAULT_EXCLUDED_FILES } from '../library/exclusions.ts'
import { skipCrashedFiles } from './crashed-files.ts'

/** The hashing process stays alive this long between scans, because its start takes longer than a small scan. */
const IDLE_MS = 10_000

export interface HasherLease {
  hasher: Hasher
  /** Ends the process of the hasher unless another scan acquires it soon. */
  release (): void
}

interface OpenHasher { hasher: Hasher, settings: string, users: number }

/** The hasher of this process, which its scans share. */
export interface SharedHasher {
  /** Reads files of the libraries as they are now. */
  acquire (config: Config): Promise<HasherLease>
}

function create ({ scan }: Config, folders: readonly string[]): Hasher {
  const { hash_threads: threads, archive_timeout_seconds: seconds } = scan
  return createHasher({
    folders,
    ...(threads === 0 ? {} : { threads }),
    excluded: { names: DEFAULT_EXCLUDED_FILES, extensions: DEFAULT_EXCLUDED_EXTENSIONS },
    limits: { timeoutMs: seconds * 1_000 }
  })
}

export function createSharedHasher (app: FastifyInstance): SharedHasher {
  let current: OpenHasher | null = null
  let timer: NodeJS.Timeout | undefined

  async function close (): Promise<void> {
    clearTimeout(timer)
    const ended = current
    current = null
    await ended?.hasher.close()
  }
  const closeNow = (closing: Promise<void>) => {
    closing.catch((err: unknown) => { app.log.warn({ err }, 'the process that hashes did not end') })
  }

  function release (used: OpenHasher): void {
    used.users--
    if (used.users > 0) return
    clearTimeout(timer)
    if (used === current) timer = setTimeout(() => { closeNow(close()) }, IDLE_MS).unref()
    else closeNow(used.hasher.close())
  }

  app.addHook('onClose', close)

  return {
    async acquire (config) {
      const folders = await listRealFolders(app.library)
      clearTimeout(timer)
      const { hash_threads: threads, archive_timeout_seconds: seconds } = config.scan
      const settings = JSON.stringify([threads, seconds, folders])
      // A scan that still uses the former hasher closes it at its end.
      if (current !== null && current.settings !== settings && current.users === 0) closeNow(close())
      if (current?.settings !== settings) current = { settings, users: 0, hasher: create(config, folders) }
      const used = current
      used.users++
      return { hasher: skipCrashedFiles(app, used.hasher), release: () => { release(used) } }
    }
  }
}
