/** A JSON object, whose fields may have any type, because providers and plugins write it. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

export const readFields = (value: unknown): Fields => isFields(value) ? value : {}
export const readList = (value: unknown): Fields[] => Array.isArray(value) ? value.filter(isFields) : []
export const readText = (value: unknown): string => typeof value === 'string' ? value : ''
export const readNumber = (value: unknown): number | null => typeof value === 'number' && Number.isFinite(value) ? value : null
export const readTexts = (value: unknown): string[] => Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
