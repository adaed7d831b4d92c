import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Measured, ServerMeasured } from '../metrics/metric-snapshot.ts'
import { Nullable, StringEnum } from '../typebox.ts'

/** What the supervisor tells a process of its own. Secrets travel here: an environment is read by others too. */
export const OrderSchema = Type.Union([
  Type.Object({
    type: Type.Literal('start'),
    /** What the process is called among those of the server. */
    name: Type.String(),
    /** The variables that settings are read from. */
    settings: Type.Record(Type.String(), Type.Union([Type.String(), Type.Undefined()])),
    database_url: Type.String(),
    /** The embedded server's process, for whoever outlives the supervisor; null for a database elsewhere. */
    database_pid: Nullable(Type.Integer()),
    /** Brings the database to the current schema first, and sees to it that the data directory belongs to it. */
    migrate: Type.Boolean(),
    /** From 1; 0 for the scan worker. */
    worker_number: Type.Integer(),
    /** Where web workers reach each other. */
    socket_dir: Type.String(),
    port: Type.Integer()
  }),
  Type.Object({ type: Type.Literal('stop') }),
  /** Wants to know what the process measured. */
  Type.Object({ type: Type.Literal('measure'), id: Type.Integer() }),
  /** What all processes measured, for the one that asked. */
  Type.Object({ type: Type.Literal('all_measured'), id: Type.Integer(), server: Type.Unsafe<ServerMeasured>(Type.Object({})) }),
  /** What the supervisor logged, for those who look at the log of all processes. */
  Type.Object({ type: Type.Literal('line'), line: Type.String() })
])
export type Order = Static<typeof OrderSchema>
export type StartOrder = Extract<Order, { type: 'start' }>

const PluginRecordSchema = Type.Object({
  kind: Nullable(StringEnum(['provider', 'channel', 'exporter'])),
  key: Type.String(),
  name: Type.String(),
  package: Type.String(),
  version: Nullable(Type.String()),
  status: StringEnum(['active', 'disabled', 'unsupported', 'failed']),
  reason: Nullable(Type.String()),
  origin: StringEnum(['built-in', 'community'])
})

/** What a process tells its supervisor. */
export const NewsSchema = Type.Union([
  /** Sent every few seconds: the event loop turns, and worked for that share of its time since the last one. */
  Type.Object({ type: Type.Literal('alive'), busy: Type.Number() }),
  Type.Object({
    type: Type.Literal('ready'),
    /** Null once there is an administrator. */
    setup_code: Nullable(Type.String()),
    plugins: Type.Array(PluginRecordSchema)
  }),
  /** What it measured. */
  Type.Object({ type: Type.Literal('measured'), id: Type.Integer(), measured: Type.Array(Type.Unsafe<Measured>(Type.Object({}))) }),
  /** Wants to know what all processes measured. */
  Type.Object({ type: Type.Literal('measure_all'), id: Type.Integer() }),
  /** A start that can never work; the process ends. */
  Type.Object({ type: Type.Literal('failed'), message: Type.String(), exit_code: Type.Integer() })
])
export type News = Static<typeof NewsSchema>
export type ReadyNews = Extract<News, { type: 'ready' }>

export const isOrder = (value: unknown): value is Order => Value.Check(OrderSchema, value)
export const isNews = (value: unknown): value is News => Value.Check(NewsSchema, value)

/** How often a process says that it is alive. */
export const ALIVE_MS = 5_000
