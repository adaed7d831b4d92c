import { CredentialsRefusedError, HttpStatusError, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import { TimeLimitError } from '../../core/concurrency/limit-time.ts'
import type { ReportedLimits } from '../../core/loader/plugin-limits.ts'
import { pluginRequests, providerCalls } from '../../core/loader/calls/traces.ts'
import type { Metrics, MetricValue } from './metrics.ts'

/** A bound on the allowances of one plugin, because a plugin chooses their names itself. */
const ALLOWANCES_MAX = 10

const OUTCOMES = [
  [RateLimitedError, 'rate_limited'], [CredentialsRefusedError, 'refused'], [HttpStatusError, 'refused'],
  [ServiceDownError, 'down'], [TimeLimitError, 'timed_out']
] as const

function outcomeOf (failure: unknown): string {
  if (failure === null) return 'answered'
  return OUTCOMES.find(([kind]) => failure instanceof kind)?.[1] ?? 'failed'
}

const readAllowances = (provider: string, reportedLimits: ReportedLimits) =>
  reportedLimits.allowances().slice(0, ALLOWANCES_MAX)
    .map(({ name, remaining, total }) => ({ labels: { provider, allowance: name }, remaining, total }))

/** Measures the calls of providers and the requests of plugins to their services, in the process that runs plugins. */
export function measurePlugins (app: FastifyInstance, metrics: Metrics): void {
  const noteCall = metrics.timer({
    name: 'svc_provider_call_duration_seconds',
    help: "Duration of calls of metadata providers, including the wait in the service's queue",
    labelNames: ['provider', 'outcome']
  })
  const noteRequest = metrics.timer({
    name: 'svc_plugin_request_duration_seconds',
    help: 'Duration of requests of plugins to their services; each attempt counts separately',
    labelNames: ['plugin', 'outcome']
  })
  const ends = [
    providerCalls.subscribe(({ provider, ms, failure }) => {
      noteCall({ provider, outcome: outcomeOf(failure) }, ms / 1_000)
    }),
    pluginRequests.subscribe(({ plugin, ms, failure }) => {
      noteRequest({ plugin, outcome: outcomeOf(failure) }, ms / 1_000)
    })
  ]
  app.addHook('onClose', async () => { for (const end of ends) end() })

  const readProviders = (read: (provider: string, reportedLimits: ReportedLimits) => MetricValue[]) => () =>
    [...app.registry.providers].flatMap(([key, { reportedLimits }]) => read(key, reportedLimits))

  metrics.gauge({
    name: 'svc_provider_allowance_remaining',
    help: 'The rest of the budget that a service reports',
    labelNames: ['provider', 'allowance']
  }, readProviders((key, reportedLimits) =>
    readAllowances(key, reportedLimits).map(({ labels, remaining: value }) => ({ labels, value }))))
  metrics.gauge({
    name: 'svc_provider_allowance_total',
    help: 'The whole budget that a service reports',
    labelNames: ['provider', 'allowance']
  }, readProviders((key, reportedLimits) =>
    readAllowances(key, reportedLimits).flatMap(
      ({ labels, total }) => total === undefined ? [] : [{ labels, value: total }]
    )))
  metrics.gauge({
    name: 'svc_provider_requests_per_second_limit',
    help: 'Requests per second that a service accepts: the smallest of its rates',
    labelNames: ['provider']
  }, () => [...app.registry.providers].flatMap(([provider, { reportedLimits, limits }]) => {
    const { rates = [] } = { ...limits, ...reportedLimits.rateLimit() }
    const perSecond = rates.map(({ requests, perMs }) => requests / perMs * 1_000)
    return perSecond.length === 0 ? [] : [{ labels: { provider }, value: Math.min(...perSecond) }]
  }))
}
