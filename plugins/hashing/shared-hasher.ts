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

/** The hasher of this process, for one scan at a time. */
export interface SharedHasher {
  /** Reads files of the libraries as they are now. */
  acquire (config: Config): Promise<HasherLease>
}

export function createSharedHasher (app: FastifyInstance): SharedHasher {
  let current: { hasher: Hasher, settings: string } | null = null
  let timer: NodeJS.Timeout | undefined

  async function close (): Promise<void> {
    clearTimeout(timer)
    const ended = current
    current = null
    await ended?.hasher.close()
  }
  const closeLater = () => { close().catch((err: unknown) => { app.log.warn({ err }, 'the process that hashes did not end') }) }

  app.addHook('onClose', close)

  return {
    async acquire (config) {
      const folders = await listRealFolders(app.library)
      clearTimeout(timer)
      const { hash_threads: threads, archive_timeout_seconds: seconds } = config.scan
      const settings = JSON.stringify([threads, seconds, folders])
      if (current !== null && current.settings !== settings) closeLater()
      current ??= {
        settings,
        hasher: createHasher({
          folders,
          ...(threads === 0 ? {} : { threads }),
          excluded: { names: DEFAULT_EXCLUDED_FILES, extensions: DEFAULT_EXCLUDED_EXTENSIONS },
          limits: { timeoutMs: seconds * 1_000 }
        })
      }
      return {
        hasher: skipCrashedFiles(app, current.hasher),
        release () {
          clearTimeout(timer)
          timer = setTimeout(closeLater, IDLE_MS).unref()
        }
      }
    }
  }
}
