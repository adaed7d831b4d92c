import ts from 'typescript'
import { visit } from './sources.ts'

const stripMarks = (comment: string) => comment.replace(/^(\/\*\*?|\/\/)\s*/, '').replace(/^\*\s*/, '')

/** The texts of a file's comments. Line comments that follow one another are one comment. */
export function listComments (source: ts.SourceFile): string[] {
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

/** The titles of the tests in a file. */
export function listTitles (source: ts.SourceFile): string[] {
  const titles: string[] = []
  visit(source, (node) => {
    if (!ts.isCallExpression(node) || !/^\w+\.test$/.test(node.expression.getText(source))) return
    const [title] = node.arguments
    if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text)
  })
  return titles
}
