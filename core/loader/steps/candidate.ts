import type { Limits, Manifest } from '@svc/plugin-sdk'
import type { FastifyBaseLogger } from 'fastify'
import { type PluginServices, createContext } from '../context.ts'
import type { PluginExport } from './import.ts'
import { messageOf } from '../process/errors.ts'
import { LoadError } from '../load-error.ts'
import { type MediaRules, createMediaCheck } from '../calls/media-hosts.ts'
import type { PluginPackage } from '../packages/packages.ts'
import { describePlugin } from '../descriptor.ts'
import type { PluginProcess } from '../process/plugin-process.ts'
import type { Definition, Description, Loaded, SettingsTrust, PluginRecord } from '../registry.ts'
import { readScanOptions } from '../calls/scan-options.ts'

/** A plugin that is being loaded: its parts so far, and the reason why it failed. */
export interface Candidate {
  pack: PluginPackage
  manifest: Manifest | null
  plugin: PluginExport | null
  /** The process that runs the plugin; null if it runs in this one. */
  process: PluginProcess | null
  services: PluginServices | null
  limits: Limits
  trust: SettingsTrust
  /** Paths of the folders that its configuration names, by property. */
  folders: Readonly<Record<string, string>>
  mask: (text: string) => string
  failure: LoadError | null
  /** True if the plugin's names and schema are valid, so that it can have settings. */
  isDefined: boolean
  /** Closes the plugin and then its services. */
  closers: (() => Promise<void>)[]
}

export const createCandidate = (pack: PluginPackage): Candidate => ({
  pack,
  manifest: null,
  plugin: null,
  process: null,
  services: null,
  limits: {},
  trust: { secrets: [], origins: [] },
  folders: {},
  mask: (text) => text,
  failure: null,
  isDefined: false,
  closers: []
})

/** Ends a plugin and its services, in the order of the closers. */
export async function closeCandidate ({ closers, process }: Candidate): Promise<void> {
  for (const close of closers.splice(0)) await close()
  process?.end()
}

/** Runs one step of one plugin; an error fails only this plugin. */
export async function attempt (candidate: Candidate, step: () => Promise<void> | void): Promise<void> {
  if (candidate.failure !== null) return
  try {
    await step()
  } catch (err) {
    candidate.failure = err instanceof LoadError ? err : new LoadError('failed', messageOf(err))
    // A failed plugin needs no process.
    candidate.process?.end()
  }
}

/** Returns the status of a plugin. */
export function toRecord ({ pack, manifest, plugin, failure, mask }: Candidate): PluginRecord {
  const key = manifest?.key ?? pack.name
  return {
    kind: manifest?.kind ?? null,
    key,
    name: plugin?.definition.name ?? key,
    package: pack.name,
    version: pack.version,
    status: failure?.status ?? 'active',
    reason: failure === null ? null : mask(failure.message),
    origin: pack.origin
  }
}

/** Returns the description of a plugin, for processes that run no plugin's code. */
export function toDescription ({ plugin, failure }: Candidate): Description {
  return {
    descriptor: plugin === null ? null : describePlugin(plugin.kind, plugin.definition),
    failure: failure === null ? null : { status: failure.status, reason: failure.message }
  }
}

/** Returns what the host calls of a plugin; null if it failed. */
export function toLoaded (candidate: Candidate, log: FastifyBaseLogger): Loaded<Definition> | null {
  const { pack, manifest, plugin, services, trust, limits, folders, failure } = candidate
  if (plugin === null || services === null || failure !== null) return null
  const { definition } = plugin
  const mediaRules: MediaRules = pack.origin === 'community'
    ? { hosts: manifest?.hosts, trustedOrigins: trust.origins }
    : {}
  const scanOptions = 'scanOptions' in definition ? definition.scanOptions : undefined
  return {
    key: definition.key,
    definition,
    trust,
    limits,
    folders,
    http: services.http,
    mediaRules,
    allowsMedia: createMediaCheck(pack.name, mediaRules, log),
    reportedLimits: services.reportedLimits,
    context: (scope) => createContext(services, { ...scope, options: readScanOptions(scanOptions, scope.options) }),
    rebuildIndex: 'index' in definition ? services.index.rebuild : null
  }
}
