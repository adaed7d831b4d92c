import { InvalidArgumentError, Option } from 'commander'

/** @throws InvalidArgumentError, which the parser reports */
export function readId (value: string): number {
  const id = Number(value)
  if (!Number.isInteger(id) || id < 1) throw new InvalidArgumentError('Ids are whole numbers from 1.')
  return id
}

/** Collects the values of an option that may be repeated. */
export const collectIds = (value: string, ids: number[] = []) => [...ids, readId(value)]

export const collectTexts = (value: string, texts: string[] = []) => [...texts, value]

export const platformOption = () => new Option('--platform <folder...>', 'only these platform folders')
export const jsonOption = () => new Option('--json', 'print one JSON object per line')
