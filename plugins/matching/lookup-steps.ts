import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type LookupStep, LookupStepSchema } from '@svc/plugin-sdk'
import { StringEnum } from '../../core/typebox.ts'

/** The origins of an id by which a provider is asked for a game. */
export const ID_ORIGINS = ['tag', 'link', 'stored', 'person'] as const

export const IdStepSchema = Type.Object({
  by: Type.Literal('id'),
  id: Type.Union([Type.Integer(), Type.String()]),
  from: StringEnum(ID_ORIGINS, {
    description: 'The origin of the id: a tag in the file name, another provider, the stored match, or a person'
  }),
  provider: Type.Optional(Type.String({ description: 'The provider that gave the id' }))
}, { title: 'IdStep' })
/** The step of a lookup by an id, which the server itself records. */
export type IdStep = Static<typeof IdStepSchema>

export type ExplainedStep = LookupStep | IdStep

/** Maximum number of steps, of candidates in all of them, and of characters in a text. */
const STEPS_MAX = 8
const CANDIDATES_MAX = 10
const TEXT_MAX = 100

const steps = TypeCompiler.Compile(LookupStepSchema)

/** Shortens a text, and marks it as shortened. */
export const cutText = (text: string, length = TEXT_MAX): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`.toWellFormed()

/** Returns the parts of a step that are stored, with short texts. */
function toStored (step: ExplainedStep): ExplainedStep {
  switch (step.by) {
    case 'id': return { ...step, id: typeof step.id === 'string' ? cutText(step.id) : step.id }
    case 'hash': return { by: 'hash', hashes: [...new Set(step.hashes)] }
    case 'sidecar': return { by: 'sidecar', path: cutText(step.path) }
    case 'search': {
      const { term, threshold, count, candidates } = step
      const best = candidates.slice(0, CANDIDATES_MAX)
        .map(({ name, score }) => ({ name: cutText(name), score: round(score) }))
      return { by: 'search', term: cutText(term), threshold, count, candidates: best }
    }
  }
}

/** Rounds down, so that a score below a threshold never shows as equal to it. */
const round = (score: number | null) => score === null ? null : Math.floor(score * 1_000) / 1_000

/**
 * Collects the steps of one lookup. A plugin may pass anything, so a step with a wrong shape is ignored, and of many
 * steps and candidates the last ones stay, because they decided.
 */
export function createLookupSteps () {
  const recorded: ExplainedStep[] = []

  /** @returns the stored form of the step */
  function add (step: ExplainedStep): ExplainedStep {
    const stored = toStored(step)
    recorded.push(stored)
    if (recorded.length > STEPS_MAX) recorded.shift()
    return stored
  }

  return {
    add,

    /** Adds a step that a plugin passed. @returns the stored form of the step; null if the step is ignored */
    addChecked: (step: unknown): ExplainedStep | null => steps.Check(step) ? add(step) : null,

    list (): ExplainedStep[] {
      let left = CANDIDATES_MAX
      return recorded.toReversed().map((step) => {
        if (step.by !== 'search') return step
        const candidates = step.candidates.slice(0, left)
        left -= candidates.length
        return { ...step, candidates }
      }).toReversed()
    }
  }
}
