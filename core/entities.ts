import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import type { Allowance, Limits } from '@svc/plugin-sdk'
import type { Description, PluginReport } from './loader/registry.ts'
import { columns } from './database/columns.ts'

/** A process of the server, and the last time it reported that it is alive. */
export const Worker = defineEntity({
  name: 'Worker',
  tableName: 'workers',
  properties: {
    id: columns.text().primary(),
    role: columns.text(),
    /** The start of the server to which the process belongs (core/process/host.ts). */
    host_id: columns.text().default(''),
    host_name: columns.text().default(''),
    release: columns.text().default(''),
    /** The address on which other hosts reach this one. */
    address: columns.text().nullable(),
    /** Milliseconds by which the clock of the host is ahead of that of the database. */
    clock_ahead_ms: p.integer().default(0),
    /** The duties that only this process has. */
    duties: columns.texts(),
    /** The reason why the plugins of this process are not those of all hosts; null if they are. */
    plugins_problem: columns.text().nullable(),
    /** The reason why `config.yml` of the host is not that of all hosts; null if it is. */
    settings_problem: columns.text().nullable(),
    /** Changes with the secret key of the process; null in a former release. */
    key_digest: columns.text().nullable(),
    started_at: columns.createdAt(),
    seen_at: columns.createdAt()
  }
})
export type Worker = InferEntity<typeof Worker>

/** The identity of this database and its data directory; at most one row. */
export const Installation = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    id: p.integer().autoincrement(false).default(1).primary(),
    /** Equal to the file `identity` of the data directory. */
    identity: p.uuid(),
    /** The last time the clean-up checked the uploads, by the clock of the database. */
    looked_at: columns.time().nullable()
  }
})
export type Installation = InferEntity<typeof Installation>

/** A value that a plugin stores across restarts. */
export const PluginCacheEntry = defineEntity({
  name: 'PluginCacheEntry',
  tableName: 'plugin_cache',
  primaryKeys: ['plugin', 'key'],
  properties: {
    plugin: columns.text().primary(),
    key: columns.text().primary(),
    value: p.json<unknown>(),
    expires_at: columns.time().nullable()
  }
})
export type PluginCacheEntry = InferEntity<typeof PluginCacheEntry>

/** A build of a plugin's local index; its entries are in the table of its generation. */
export const PluginIndex = defineEntity({
  name: 'PluginIndex',
  tableName: 'plugin_indexes',
  indexes: [{ properties: ['plugin'] }],
  properties: {
    generation: p.integer().primary().autoincrement(),
    plugin: columns.text(),
    /** Null while the index is being filled. */
    built_at: columns.time().nullable()
  }
})
export type PluginIndex = InferEntity<typeof PluginIndex>

/** The rate limits and allowances that a plugin learnt from its service. */
export const PluginLimits = defineEntity({
  name: 'PluginLimits',
  tableName: 'plugin_limits',
  properties: {
    plugin: columns.text().primary(),
    limits: p.json<Pick<Limits, 'concurrency' | 'rates'> | null>().nullable(),
    allowances: p.json<Record<string, Allowance>>().default('{}')
  }
})
export type PluginLimits = InferEntity<typeof PluginLimits>

/** The part of a plugin's rate that one process may use. The parts of all processes together are at most the rate. */
export const RateShare = defineEntity({
  name: 'RateShare',
  tableName: 'rate_shares',
  primaryKeys: ['plugin', 'rate', 'holder'],
  properties: {
    plugin: columns.text().primary(),
    rate: columns.text().primary(),
    /** The id of the process. */
    holder: columns.text().primary(),
    /** Requests in any window; 0 if the process waits for a part. */
    requests: p.integer(),
    expires_at: columns.time(),
    /** Requests that the process sent in the last window, which count until `sent_until` beside a smaller part. */
    sent: p.integer(),
    sent_until: columns.time()
  }
})
export type RateShare = InferEntity<typeof RateShare>

/** Descriptions of the packages of one installation, for processes that run none of their code. */
export const PluginSnapshot = defineEntity({
  name: 'PluginSnapshot',
  tableName: 'plugin_snapshots',
  properties: {
    /** The fingerprint of the packages and the server. */
    fingerprint: columns.text().primary(),
    descriptions: p.json<Description[]>(),
    /** The scan worker that wrote `reports`. */
    worker: columns.text().nullable(),
    reports: p.json<PluginReport[]>().default('[]'),
    stored_at: columns.createdAt()
  }
})
export type PluginSnapshot = InferEntity<typeof PluginSnapshot>

/** The settings of a plugin that an administrator stored. */
export const PluginSettings = defineEntity({
  name: 'PluginSettings',
  tableName: 'plugin_settings',
  properties: {
    /** The kind and the key, such as `provider/igdb`. */
    plugin: columns.text().primary(),
    /** All values, encrypted together, because an address may contain a secret too. */
    sealed: columns.text()
  }
})
export type PluginSettings = InferEntity<typeof PluginSettings>

/** A plugin package that every host of this database installs or removes. */
export const PluginPackageRow = defineEntity({
  name: 'PluginPackageRow',
  tableName: 'plugin_packages',
  properties: {
    /** The name of the package. */
    name: columns.text().primary(),
    /** The exact version; null if every host removes the package. */
    version: columns.text().nullable(),
    /** SHA-256 of the tarball; empty for a removed package. */
    sha256: columns.text(),
    /** The tarball of npm. */
    tarball: p.blob().nullable(),
    /** The signature of the columns above, by the key of the server. */
    signature: columns.text(),
    stored_at: columns.createdAt()
  }
})
export type PluginPackageRow = InferEntity<typeof PluginPackageRow>
