import type { components } from '../../api/schema.d.ts'

export type Library = components['schemas']['Library']
