import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { InstalledPlugins } from '../loader/inspection/installed.ts'
import type { PluginRecord } from '../loader/registry.ts'
import type { MetricSnapshot, ServerSnapshot } from '../metrics/metric-snapshot.ts'
import { Nullable } from '../typebox.ts'

/**
 * Messages from the supervisor to a process. They carry secrets, because other users may read the environment of a
 * process.
 */
const SupervisorMessageSchema = Type.Union([
  Type.Object({
    type: Type.Literal('start'),
    /** The name of the process in the server. */
    name: Type.String(),
    /** The variables that settings are read from. */
    settings: Type.Record(Type.String(), Type.Union([Type.String(), Type.Undefined()])),
    /**
     * The content of `config.yml` when the server started, so that all processes have the same settings; null with an
     * external database, where the settings of other hosts change the file.
     */
    config_text: Nullable(Type.String()),
    database_url: Type.String(),
    /**
     * The process id of the embedded database, for a process that outlives the supervisor; null for an external
     * database.
     */
    database_pid: Nullable(Type.Integer()),
    /** True if the process first migrates the database and checks that the data directory belongs to it. */
    migrate: Type.Boolean(),
    /** The id of this start of the server, in the ids of sockets. */
    host_id: Type.String(),
    /** The number of a web worker, from 1; 0 for the scan worker. */
    worker_number: Type.Integer(),
    /** The folder with the local sockets of web workers. */
    socket_dir: Type.String(),
    port: Type.Integer(),
    /** The idle time after which the scan worker asks to rest; 0 for never. */
    rest_ms: Type.Number(),
    /** The plugins at the start of the server; null for the first process, which finds them. */
    installed: Nullable(Type.Unsafe<InstalledPlugins>(Type.Object({}))),
    /** Milliseconds since the first scan worker was ready, for one that replaces a resting one; otherwise null. */
    woken_after_ms: Nullable(Type.Number())
  }),
  Type.Object({ type: Type.Literal('stop') }),
  /** Lets the scan worker end, unless it has work again. */
  Type.Object({ type: Type.Literal('rest') }),
  /** Makes a web worker look for work in place of the scan worker, and at this time of the database find some. */
  Type.Object({ type: Type.Literal('guard'), wake_at: Nullable(Type.Number()) }),
  /** Ends the search for work. */
  Type.Object({ type: Type.Literal('unguard') }),
  /** Requests the metrics of the process. */
  Type.Object({ type: Type.Literal('measure'), id: Type.Integer() }),
  /** The metrics of all processes, for the process that requested them. */
  Type.Object({ type: Type.Literal('all_measured'), id: Type.Integer(), server: Type.Unsafe<ServerSnapshot>(Type.Object({})) }),
  /** A line of the supervisor's log, for readers of the log of all processes. */
  Type.Object({ type: Type.Literal('line'), line: Type.String() })
])
export type SupervisorMessage = Static<typeof SupervisorMessageSchema>
export type StartMessage = Extract<SupervisorMessage, { type: 'start' }>

/** Messages from a process to its supervisor. */
const ProcessMessageSchema = Type.Union([
  /** Sent every few seconds: the event loop runs, with the busy share of its time since the last message. */
  Type.Object({ type: Type.Literal('alive'), busy: Type.Number() }),
  Type.Object({
    type: Type.Literal('ready'),
    /** Null once there is an administrator. */
    setup_code: Nullable(Type.String()),
    /** True if the server shows pages to browsers. */
    has_pages: Type.Boolean(),
    /** The packages of plugins that it works with. */
    installed: Type.Unsafe<InstalledPlugins>(Type.Object({})),
    plugins: Type.Array(Type.Unsafe<PluginRecord>(Type.Object({})))
  }),
  /** The scan worker has no work until this time of the database, in milliseconds. */
  Type.Object({ type: Type.Literal('idle'), wake_at: Nullable(Type.Number()) }),
  /** The scan worker has work again and does not rest. */
  Type.Object({ type: Type.Literal('busy') }),
  /** The web worker looks for work from now on, and there was none. */
  Type.Object({ type: Type.Literal('guarding') }),
  /** There is work for the scan worker. */
  Type.Object({ type: Type.Literal('wake'), reason: Type.String() }),
  /** The metrics of the process. */
  Type.Object({ type: Type.Literal('measured'), id: Type.Integer(), measured: Type.Array(Type.Unsafe<MetricSnapshot>(Type.Object({}))) }),
  /** Requests the metrics of all processes. */
  Type.Object({ type: Type.Literal('measure_all'), id: Type.Integer() }),
  /** A start that can never succeed; the process ends. */
  Type.Object({ type: Type.Literal('failed'), message: Type.String(), exit_code: Type.Integer() })
])
export type ProcessMessage = Static<typeof ProcessMessageSchema>
export type ReadyMessage = Extract<ProcessMessage, { type: 'ready' }>

export const isSupervisorMessage = (value: unknown): value is SupervisorMessage =>
  Value.Check(SupervisorMessageSchema, value)
export const isProcessMessage = (value: unknown): value is ProcessMessage => Value.Check(ProcessMessageSchema, value)

/** The interval of the alive messages. */
export const ALIVE_MS = 5_000
