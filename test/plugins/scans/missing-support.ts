import { scriptOf } from '../fixtures/script.ts'

export const alpha = scriptOf('alpha')
