import { Type } from '@sinclair/typebox'
import { Formatted, Section, Switch } from '../../core/config/setting.ts'

export const MetricsSchema = Section({
  enabled: Switch('SVC_METRICS', 'Measures the server, and serves the metrics at /metrics in the format of Prometheus'),
  allow: Type.Array(Formatted('network'), {
    default: [],
    env: 'SVC_METRICS_ALLOW',
    description:
      'Addresses and networks such as 192.168.1.20 or 172.30.80.0/24 that need no token for /metrics. A request ' +
      'through a trusted proxy counts by the address that the proxy names. A request through another proxy ' +
      'never counts'
  })
}, 'Metrics')
