import type { FastifyPluginAsync } from 'fastify'
import { settingsEnvironment } from './config/environment.ts'
import { ConfigSection } from './config/section.ts'
import type { Entities, Migrations } from './database/database.ts'
import type { Feature, FeatureOptions, Features, LoadModule } from './feature.ts'
import type { Role } from './jobs/workers.ts'
import type { Routes } from './typebox.ts'

/** Parts of core that features may need, by the names of their Fastify plugins. */
const CORE_PARTS = new Set(['database', 'auth-core', 'sockets', 'jobs', 'workers', 'rest', 'upkeep', 'loader'])

/** The features, and the parts of the server that all of them share. */
export interface FeatureList {
  /** In the order of the API document; the order of their setup follows their needs. */
  features: readonly Feature[]
  /** The migrations of all tables, in order. */
  loadMigrations: () => Promise<Migrations>
  /** The Markdown text with which the API document begins. */
  loadIntroduction: () => Promise<string>
}

/**
 * Returns the features in the order of their setup: each after all that it needs.
 *
 * @throws Error naming a need that does not exist, or features that need each other
 */
export function sortByNeeds (features: readonly Feature[]): Feature[] {
  const byName = new Map<string, Feature>()
  for (const feature of features) {
    if (byName.has(feature.name)) throw new Error(`Two features have the name '${feature.name}'`)
    byName.set(feature.name, feature)
  }
  const sorted = new Set<Feature>()
  function add (feature: Feature, path: readonly string[]): void {
    if (sorted.has(feature)) return
    const names = [...path, feature.name]
    if (path.includes(feature.name)) throw new Error(`Features need each other: ${names.slice(names.indexOf(feature.name)).join(' → ')}`)
    for (const need of feature.needs ?? []) {
      const needed = byName.get(need)
      if (needed !== undefined) add(needed, names)
      else if (!CORE_PARTS.has(need)) throw new Error(`The feature '${feature.name}' needs '${need}', which is neither a feature nor a part of core`)
    }
    sorted.add(feature)
  }
  for (const feature of features) add(feature, [])
  return [...sorted]
}

/** Loads a feature as a Fastify plugin, for a process of this role. */
async function loadPlugin (
  { name, needs = [], ...feature }: Feature, role: Role
): Promise<FastifyPluginAsync<FeatureOptions>> {
  const { default: fp } = await import('fastify-plugin')
  const plugin = await feature.plugin?.()
  const routes = role === 'web' ? await feature.routes?.() : undefined
  const events = role === 'web' ? await feature.events?.() : undefined
  const setUp: FastifyPluginAsync<FeatureOptions> = async (app, options) => {
    if (events !== undefined) app.sockets.describe(events)
    const parts = await plugin?.default(app, options)
    if (routes === undefined) return
    const register: Routes = async (scope) => { await routes.default(scope, options, parts) }
    // Named, because Fastify looks for a plugin without a name in all loaded modules.
    await app.register(fp(register, { name: `${name} routes`, encapsulate: true }))
  }
  return fp(setUp, { name, dependencies: [...needs] })
}

/** Loads modules and returns their exports of one kind. */
async function loadExports<T> (
  loads: readonly (LoadModule | undefined)[], isWanted: (value: unknown) => value is T
): Promise<T[]> {
  const found: T[] = []
  for (const load of loads) {
    if (load !== undefined) found.push(...Object.values(await load()).filter(isWanted))
  }
  return found
}

async function loadEntities (features: readonly Feature[]): Promise<Entities> {
  const { EntitySchema } = await import('@mikro-orm/core')
  return await loadExports(features.map(({ entities }) => entities), (value) => value instanceof EntitySchema)
}

/**
 * Makes one server of the features. Loads none of their code.
 *
 * @throws Error naming a need that does not exist, or features that need each other
 */
export function composeFeatures ({ features, loadMigrations, loadIntroduction }: FeatureList): Features {
  const sorted = sortByNeeds(features)
  const loadSections = () =>
    loadExports(features.map(({ config }) => config), (value) => value instanceof ConfigSection)
  return {
    tags: features.flatMap(({ tags = {} }) => Object.entries(tags))
      .map(([name, description]) => ({ name, description })),
    loadSections,
    loadCommands: () => Promise.all(features.flatMap(({ commands }) => commands?.() ?? [])),
    async loadConfig (environment = settingsEnvironment(), startText = null) {
      const [{ loadConfig }, sections] = await Promise.all([import('./config/config.ts'), loadSections()])
      return loadConfig(sections, environment, startText)
    },
    async loadTables () {
      const [entities, migrations] = await Promise.all([loadEntities(features), loadMigrations()])
      return { entities, migrations }
    },
    async loadFieldNames () {
      const names = await Promise.all(features.map(async ({ fieldNames }) => await fieldNames?.() ?? []))
      return new Set(names.flat())
    },
    async loadPlugins (role) {
      const plugins: FastifyPluginAsync<FeatureOptions>[] = []
      // One after the other. Node takes longer to load modules at once whose imports overlap.
      for (const feature of sorted) plugins.push(await loadPlugin(feature, role))
      return plugins
    },
    loadIntroduction,
    async check (config, db) {
      for (const feature of sorted) await feature.check?.(config, db)
    },
    async prepare (upgrade) {
      let hasChanged = false
      for (const feature of sorted) if (await feature.prepare?.(upgrade) === true) hasChanged = true
      return hasChanged
    },
    async beforeUpgrade (upgrade) {
      for (const feature of sorted) await feature.beforeUpgrade?.(upgrade)
    },
    async moveCluster (move) {
      for (const feature of sorted) await feature.moveCluster?.(move)
    }
  }
}
