import type { Command } from 'commander'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Logger } from 'pino'
import type { Queryable } from './database/db.ts'
import type { Config, LoadedConfig } from './config/config.ts'
import type { Environment } from './config/environment.ts'
import type { ConfigSection } from './config/section.ts'
import type { Entities, Migrations } from './database/database.ts'
import type { Role } from './jobs/workers.ts'
import type { ServerSnapshot } from './metrics/metric-snapshot.ts'
import type { EventDescriptions, ServerEvents } from './sockets/sockets.ts'
import type { App } from './typebox.ts'
import type { Tag } from './web/openapi/openapi.ts'

/** The role of one process among those of a server. */
export interface ProcessRole {
  /** A name such as `web worker 2`. */
  name: string
  /** Reads the measurements of all processes; undefined for a process that runs alone. */
  readAllMeasured?: () => Promise<ServerSnapshot>
}

/** A database that a server is about to use, and whose schema may be changed. */
export interface Upgrade { config: Config, databaseUrl: string, log: Logger }

/** An embedded database that another major version of PostgreSQL wrote. */
export interface FormerCluster {
  config: Config
  environment: Environment
  loadConfig: Features['loadConfig']
  log: Logger
  /** The major version that wrote the cluster. */
  from: string
  /** The major version of this release. */
  to: string
}

/** Moves the database to the PostgreSQL of this release. @throws StartError if that is not possible */
export type MoveCluster = (cluster: FormerCluster) => Promise<void>

/** The options that every feature gets. */
export interface FeatureOptions { config: Config, role: Role, processRole: ProcessRole }

/** Sets a feature up in every process: decorators, tasks, jobs. @returns the parts that its routes use */
export type FeaturePlugin<Parts = void> = (app: FastifyInstance, options: FeatureOptions) => Promise<Parts>

/** Registers the routes of a feature in a context of their own, whose hooks affect no other routes. */
export type FeatureRoutes<Parts = void> = (app: App, options: FeatureOptions, parts: Parts) => Promise<void>

/** Adds a feature's commands. The code of each command is loaded only when the command runs. */
export type AddCommands = (program: Command, features: Features) => void

interface PluginModule<Parts> { default: FeaturePlugin<Parts> }
/** A method, so that a list can hold features whose routes use different parts. */
interface RoutesModule<Parts> { default (app: App, options: FeatureOptions, parts: Parts): Promise<void> }
/** Loads a module, whose exports of one kind are used. */
export type LoadModule = () => Promise<Readonly<Record<string, unknown>>>

/**
 * The descriptor of a feature. Every process loads the descriptors of all features. Hence a descriptor imports nothing,
 * and names modules that are loaded when they are needed.
 */
export interface Feature<Parts = unknown> {
  /** The name of its folder. */
  name: string
  /** Features and parts of core that are set up before it. */
  needs?: readonly string[]
  /** Each `ConfigSection` that the module exports becomes a section of the configuration. */
  config?: LoadModule
  /** Each entity that the module exports is a table. */
  entities?: LoadModule
  /** The groups of its operations in the API document, with their descriptions. */
  tags?: Readonly<Record<string, string>>
  /** The events that it sends to browsers, for the document of events. */
  events?: () => Promise<EventDescriptions<ServerEvents>>
  /** Loads the names of its fields beside which providers add fields of their own, such as `<key>_id`. */
  fieldNames?: () => Promise<readonly string[]>
  /** Loads its commands, in a process that reads a command line. */
  commands?: () => Promise<AddCommands>
  plugin?: () => Promise<PluginModule<Parts>>
  /** Loaded and registered in web workers only. */
  routes?: () => Promise<RoutesModule<Parts>>
  /** Runs before the first start on a database. @throws StartError if the data directory does not fit */
  check? (config: Config, db: Queryable): Promise<void>
  /** Prepares the data directory after the checks, before a server starts. @returns true if the settings changed */
  prepare? (upgrade: Upgrade): Promise<boolean>
  /** Runs before the schema of a database with content is changed. If it throws, the schema stays unchanged. */
  beforeUpgrade? (upgrade: Upgrade): Promise<void>
  /** Moves the embedded database to another major version of PostgreSQL. */
  moveCluster?: MoveCluster
}

/** All features as one: the parts that they contribute to the server. */
export interface Features {
  loadCommands (): Promise<AddCommands[]>
  /** The groups of all operations, in the order of the API document. */
  tags: readonly Tag[]
  loadSections (): Promise<readonly ConfigSection[]>
  /**
   * Loads the configuration with the sections of all features.
   *
   * @param startText the content of `config.yml` when the server started; null reads the file
   * @throws StartError naming each wrong key
   */
  loadConfig (environment?: Environment, startText?: string | null): Promise<LoadedConfig>
  loadTables (): Promise<{ entities: Entities, migrations: Migrations }>
  /** Loads the names of all fields that no provider may replace. */
  loadFieldNames (): Promise<ReadonlySet<string>>
  /** Loads the features for a process of this role, in the order in which they are set up. */
  loadPlugins (role: Role): Promise<FastifyPluginAsync<FeatureOptions>[]>
  /** Loads the Markdown text with which the API document begins. */
  loadIntroduction (): Promise<string>
  /** Runs the checks of all features. @throws StartError if the data directory does not fit the database */
  check (config: Config, db: Queryable): Promise<void>
  /** Prepares the data directory for a server. @returns true if the settings changed */
  prepare (upgrade: Upgrade): Promise<boolean>
  beforeUpgrade (upgrade: Upgrade): Promise<void>
  moveCluster: MoveCluster
}

/** Describes a feature. Checks that its routes use the parts that its plugin returns. */
export const defineFeature = <Parts = void>(feature: Feature<Parts>): Feature => feature
