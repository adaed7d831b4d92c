import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { lockFolder } from './bundle/bundle-lock.ts'
import { type Bundle, CACHE_DIR, SHIPPED_DIR, findBundle } from './bundle/bundle.ts'

/** Finds the bundle, or makes it if sources are newer. An older bundle is used if no new one can be made. */
async function loadBundle ({ log }: Pick<FastifyInstance, 'log'>, folder: string): Promise<Bundle> {
  const folders = [SHIPPED_DIR, folder]
  const found = await findBundle(folders)
  if (found?.isFresh === true) return found.bundle
  return await lockFolder(folder, async () => {
    const former = await findBundle(folders)
    if (former?.isFresh === true) return former.bundle
    try {
      const { makeBundle } = await import('./bundle/make-bundle.ts')
      return await makeBundle(folder)
    } catch (err) {
      if (former === null) throw err
      log.warn({ err }, 'the web pages could not be bundled; the former ones are served')
      return former.bundle
    }
  })
}

/** Creates the service that serves the pages. @param folder where the bundle of a checkout lies */
export function createConsole (app: Pick<FastifyInstance, 'log'>, folder = CACHE_DIR) {
  let loading: Promise<Bundle> | null = null

  async function load (): Promise<Bundle> {
    loading ??= loadBundle(app, folder).catch((err: unknown) => {
      loading = null
      throw err
    })
    return await loading
  }

  return {
    /** Returns the bundle; the first call may make it. A failed attempt is repeated at the next call. */
    load,

    /** Returns a bundle whose files exist, because another server of the checkout may have replaced them. */
    async loadExisting (): Promise<Bundle> {
      const bundle = await load()
      if (existsSync(join(bundle.folder, bundle.entry))) return bundle
      loading = null
      return await load()
    }
  }
}
export type Console = ReturnType<typeof createConsole>
