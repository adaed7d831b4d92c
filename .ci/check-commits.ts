import { execFileSync } from 'node:child_process'

/** The last commit before subjects had a form. */
const BASE = '0d8b6fe'
const SUBJECT_MAX_LENGTH = 72
/** Scopes, a colon, and a verb in the imperative; what begins otherwise is listed with the words that give it away. */
const SUBJECT = /^[\w./-]+(, [\w./-]+)*: [a-z]/
const NO_IMPERATIVE = /: (a|an|the|that|this|these|those|what|whether|who|whoever|how|where|when|of|it|one|two|no|all|each|every|\w+(ed|ing)|[a-z]+ (is|are|was|were|has|have|had|does|do)) /

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()

function describeFault (subject: string, parents: number): string | null {
  if (parents > 1) return 'is a merge; rebase instead'
  if (subject.length > SUBJECT_MAX_LENGTH) return `has ${subject.length} characters; at most ${SUBJECT_MAX_LENGTH}`
  if (!SUBJECT.test(subject) || NO_IMPERATIVE.test(`${subject} `)) return "is not 'scope: verb …' in the imperative"
  return null
}

function listCommits (): string[] {
  try {
    return git('log', '--format=%h%x09%p%x09%s', `${BASE}..HEAD`).split('\n').filter((line) => line !== '')
  } catch {
    // A shallow clone, or an archive without history, has nothing to check.
    return []
  }
}

const faults = listCommits().flatMap((line) => {
  const [hash = '', parents = '', subject = ''] = line.split('\t')
  const fault = describeFault(subject, parents.split(' ').length)
  return fault === null ? [] : [`${hash} '${subject}' ${fault}`]
})
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
