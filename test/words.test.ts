import t from 'tap'
import ts from 'typescript'
import { SOURCES, parsed, visit } from './sources.ts'

/** Words that open a comment with a riddle: its subject is known only at its end. */
const RIDDLE = /^(What|Whether|Those|Who|Whoever|How|Where|Of|The same)\b/
/** The largest share of comments that may open with one of these words. It may only fall. */
const RIDDLES_MAX = 0.03
const TITLE_MAX_LENGTH = 80
/** The largest number of longer test titles. It may only fall. */
const LONG_TITLES_MAX = 0
/** File names that say nothing in a list of files. */
const EMPTY_NAMES = new Set(['around', 'common', 'given', 'helpers', 'kept', 'misc', 'parts', 'place', 'places', 'settle', 'shared',
  'stage', 'take', 'taken', 'util', 'utils', 'work'])

const stripMarks = (comment: string) => comment.replace(/^(\/\*\*?|\/\/)\s*/, '').replace(/^\*\s*/, '')

/** The texts of a file's comments. Line comments that follow one another are one comment. */
function listComments (source: ts.SourceFile): string[] {
  const { text } = source
  const comments = new Map<number, string>()
  let lineCommentEnd = -1
  const add = (ranges: readonly ts.CommentRange[] = []) => {
    for (const { pos, end, kind } of ranges) {
      const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia
      const goesOn = isLine && lineCommentEnd >= 0 && /^\r?\n[ \t]*$/.test(text.slice(lineCommentEnd, pos))
      if (!goesOn && !comments.has(pos)) comments.set(pos, stripMarks(text.slice(pos, end)))
      lineCommentEnd = isLine ? end : -1
    }
  }
  const look = (node: ts.Node): void => {
    add(ts.getLeadingCommentRanges(text, node.getFullStart()))
    ts.forEachChild(node, look)
    add(ts.getTrailingCommentRanges(text, node.getEnd()))
  }
  look(source)
  return [...comments.values()]
}

t.test('comments name their subject first', async (t) => {
  const comments = [...parsed].flatMap(([path, source]) => listComments(source).map((text) => ({ path, text })))
  const riddles = comments.filter(({ text }) => RIDDLE.test(text))
  const share = riddles.length / comments.length
  t.ok(comments.length > 1_000)
  t.ok(share <= RIDDLES_MAX, `${riddles.length} of ${comments.length} comments open with a riddle`)
})

/** The titles of the tests in a file. */
function listTitles (source: ts.SourceFile): string[] {
  const titles: string[] = []
  visit(source, (node) => {
    if (!ts.isCallExpression(node) || !/^\w+\.test$/.test(node.expression.getText(source))) return
    const [title] = node.arguments
    if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text)
  })
  return titles
}

t.test('test titles are short sentences', async (t) => {
  const titles = [...parsed].filter(([path]) => /\.(test|soak)\.ts$/.test(path)).flatMap(([, source]) => listTitles(source))
  const long = titles.filter((title) => title.length > TITLE_MAX_LENGTH)
  t.ok(titles.length > 1_000)
  t.ok(long.length <= LONG_TITLES_MAX, `${long.length} titles are longer than ${TITLE_MAX_LENGTH} characters, such as '${long[0]}'`)
})

t.test('file names say what is in them', async (t) => {
  t.same(SOURCES.filter((path) => EMPTY_NAMES.has(path.replace(/^.*\//, '').replace(/\.tsx?$/, ''))), [])
})
