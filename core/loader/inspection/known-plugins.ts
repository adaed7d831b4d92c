import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { inspectInProcess } from './inspect-in-process.ts'
import { type LoaderOptions, linkSdkFor, loadPlugins } from '../loader.ts'
import { type PluginPackage, listPluginPackages } from '../packages/packages.ts'
import type { Description } from '../registry.ts'
import { PLUGINS_CHANGED, fingerprintOf, readSnapshot, storeDescriptions, storeReports } from './snapshot.ts'

/** Returns the descriptions of the packages: the stored ones, or else those of an inspection in a separate process. */
async function findDescriptions (
  app: FastifyInstance, packages: PluginPackage[], fingerprint: string
): Promise<readonly Description[]> {
  if (packages.length === 0) return []
  const snapshot = await readSnapshot(app.db, fingerprint)
  if (snapshot !== null) return snapshot.descriptions
  try {
    const { descriptions } = await inspectInProcess({ runsPlugins: false, packages })
    await storeDescriptions(app.db, fingerprint, descriptions)
    return descriptions
  } catch (err) {
    app.log.warn({ err }, 'the plugins could not be inspected; this process offers none until its next start')
    const reason = 'the server could not inspect the plugin; see the log of the server, then restart the server'
    return packages.map(() => ({ descriptor: null, failure: { status: 'failed', reason } }))
  }
}

/** Stores the state of plugins, in the process that runs them, for all other processes. */
async function publishState (app: FastifyInstance, fingerprint: string): Promise<void> {
  await storeDescriptions(app.db, fingerprint, app.registry.descriptions)
  /** One write after the other, because the last state must win. */
  let storing: Promise<void> = Promise.resolve()
  const store = () => {
    storing = storing.then(() => storeReports(app.db, fingerprint, app.workers.id, app.registry.report()))
      .catch((err: unknown) => { app.log.warn({ err }, 'the status of the plugins could not be stored') })
    return storing
  }
  app.registry.onChange(() => { void store() })
  app.addHook('onReady', store)
  app.addHook('onClose', () => storing)
}

/** Loads the state of plugins, in a process that runs none. Only reports of a live scan worker count. */
async function followWorker (app: FastifyInstance, fingerprint: string): Promise<void> {
  async function applyReports (): Promise<void> {
    const snapshot = await readSnapshot(app.db, fingerprint)
    if (snapshot === null || snapshot.worker === null) return
    if ((await app.workers.listAlive()).includes(snapshot.worker)) app.registry.applyReports(snapshot.reports)
  }
  /** One read after the other, because an older state must not replace a newer one. */
  let applying: Promise<void> = Promise.resolve()
  app.addHook('onReady', async () => {
    await app.workers.listen(PLUGINS_CHANGED, (changed) => {
      if (changed !== fingerprint) return
      applying = applying.then(applyReports)
        .catch((err: unknown) => { app.log.warn({ err }, 'the status of the plugins could not be read') })
    })
    applying = applyReports()
    await applying
  })
}

/**
 * Opens the registry of all plugins. The scan worker runs them; all other processes use the stored descriptions. It is
 * not opened during the registration of app plugins, because many processes may take longer to start than that time
 * limit.
 */
export async function openRegistry (app: FastifyInstance, options: LoaderOptions) {
  const { config, runsPlugins: works } = options
  linkSdkFor(app, config.data_dir)
  const packages = options.packages ?? listPluginPackages(config.data_dir)
  const fingerprint = fingerprintOf(packages)
  const descriptions = works ? undefined : await findDescriptions(app, packages, fingerprint)
  const registry = await loadPlugins(app, { ...options, packages, descriptions })
  return fp(async (instance) => {
    instance.decorate('registry', registry)
    if (works) await publishState(instance, fingerprint)
    else await followWorker(instance, fingerprint)
  }, { name: 'loader', fastify: '5.x', dependencies: ['database', 'workers'] })
}
