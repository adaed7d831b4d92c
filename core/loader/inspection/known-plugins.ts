import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createSemaphore } from '../../concurrency/semaphore.ts'
import { type LoadedPlugins, type LoaderOptions, linkSdkFor, loadPlugins } from '../loader.ts'
import { type PluginPackage, listPluginPackages } from '../packages/packages.ts'
import type { Description } from '../registry.ts'
import { inspectInProcess } from './inspect-in-process.ts'
import { type InstalledPlugins, findChanged } from './installed.ts'
import { isPluginKind } from '../checks/check-definition.ts'
import { PLUGIN_SETTINGS_CHANGED, type StoredSettings, openStoredSettings } from '../settings/stored-settings.ts'
import { PLUGINS_CHANGED, readSnapshot, storeDescriptions, storeReports } from './snapshot.ts'

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

/**
 * Stores the state of plugins, in the process that runs them, for all other processes.
 *
 * @param isComplete false if a package was refused that the other processes know
 */
async function publishState (app: FastifyInstance, fingerprint: string, isComplete: boolean): Promise<void> {
  if (isComplete) await storeDescriptions(app.db, fingerprint, app.registry.descriptions)
  // One write after the other, because the last state must win.
  const turns = createSemaphore(1)
  const store = () => turns.run(() => storeReports(app.db, fingerprint, app.workers.id, app.registry.report()))
    .catch((err: unknown) => { app.log.warn({ err }, 'the status of the plugins could not be stored') })
  app.registry.onChange(() => { void store() })
  app.addHook('onReady', store)
  app.addHook('onClose', () => turns.run(async () => {}))
}

/** Loads the state of plugins, in a process that runs none. Only reports of a live or resting scan worker count. */
async function followWorker (app: FastifyInstance, fingerprint: string): Promise<() => Promise<void>> {
  // One read after the other, because an older state must not replace a newer one.
  const turns = createSemaphore(1)
  const applyReports = () => turns.run(async () => {
    const snapshot = await readSnapshot(app.db, fingerprint)
    if (snapshot === null || snapshot.worker === null) return
    const isCurrent = (await app.workers.listAlive()).includes(snapshot.worker) || await app.workers.isResting()
    if (isCurrent) app.registry.applyReports(snapshot.reports)
  })
  const applyOrLog = () => applyReports().catch((err: unknown) => { app.log.warn({ err }, 'the status of the plugins could not be read') })
  app.addHook('onReady', async () => {
    await app.workers.listen(PLUGINS_CHANGED, (changed) => { if (changed === fingerprint) void applyOrLog() })
    await applyReports()
  })
  return applyOrLog
}

/** Loads plugins again when their stored settings change, in every process. */
function followStoredSettings (
  app: FastifyInstance, registry: LoadedPlugins, stored: StoredSettings,
  afterReload: () => Promise<void> = async () => {}
): void {
  const turns = createSemaphore(1)
  const apply = () => turns.run(async () => {
    const changed = await stored.refresh()
    for (const { kind, key } of changed) if (isPluginKind(kind)) await registry.reload(kind, key)
    if (changed.length > 0) await afterReload()
  })
  app.decorate('pluginSettings', { of: stored.of, apply })
  app.addHook('onReady', async () => {
    await app.workers.listen(PLUGIN_SETTINGS_CHANGED, () => {
      apply().catch((err: unknown) => { app.log.error({ err }, 'changed settings of plugins could not be applied; restart the server') })
    })
    await apply()
  })
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Settings of plugins that administrators stored. `apply` loads plugins again whose settings changed since. */
    pluginSettings: Pick<StoredSettings, 'of'> & { apply (): Promise<void> }
  }
}

/**
 * Opens the registry of all plugins. The scan worker runs them; all other processes use the stored descriptions. It is
 * not opened during the registration of app plugins, because many processes may take longer to start than that time
 * limit.
 */
export async function openRegistry (app: FastifyInstance, installed: InstalledPlugins, options: LoaderOptions) {
  const { config, runsPlugins: works } = options
  const { packages, fingerprint } = installed
  linkSdkFor(app, config.data_dir)
  const changed = findChanged(installed, works ? options.packages ?? listPluginPackages(config.data_dir) : packages)
  const descriptions = works ? undefined : await findDescriptions(app, packages, fingerprint)
  const stored = await openStoredSettings(app.db, app.secrets, app.log)
  const registry = await loadPlugins(app, { ...options, packages, changed, descriptions, stored })
  return fp(async (instance) => {
    instance.decorate('registry', registry)
    if (works) await publishState(instance, fingerprint, changed.size === 0)
    // Only the worker knows the state of a plugin, so other processes read it after they loaded the plugin again.
    const afterReload = works ? undefined : await followWorker(instance, fingerprint)
    followStoredSettings(instance, registry, stored, afterReload)
  }, { name: 'loader', fastify: '5.x', dependencies: ['database', 'workers'] })
}
