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

/**
 * True if the files that each page names exist. Another process may have replaced the bundle of a checkout. Each
 * changed source changes one of these names, because they contain hashes.
 */
const isComplete = ({ folder, entry, styles, icon }: Bundle) =>
  [entry, styles, icon].every((name) => existsSync(join(folder, name)))

/** Creates the service that serves the pages. @param folder where the bundle of a checkout lies */
export function createConsole (app: Pick<FastifyInstance, 'log'>, folder = CACHE_DIR) {
  let loading: Promise<Bundle> | null = null

  function loadOnce (): Promise<Bundle> {
    loading ??= loadBundle(app, folder).catch((err: unknown) => {
      loading = null
      throw err
    })
    return loading
  }

  return {
    /**
     * Returns the bundle; the first call may make it. A failed attempt is repeated at the next call. A bundle that
     * another process replaced is read again, for files too: another web worker may have sent the page that names them.
     */
    async load (): Promise<Bundle> {
      const attempt = loadOnce()
      const bundle = await attempt
      if (isComplete(bundle)) return bundle
      // The first of several requests drops the incomplete bundle, and the others wait for the same new one.
      if (loading === attempt) loading = null
      return await loadOnce()
    }
  }
}
export type Console = ReturnType<typeof createConsole>
