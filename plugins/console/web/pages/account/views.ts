import type { components } from '../../api/schema.d.ts'

export type Channel = components['schemas']['NotificationChannel']
export type Token = components['schemas']['ClientToken']
