// Starts `envisa debug` for editors: adapter, lanes, work-items, inline values.
const vscode = require('vscode');

const current = () => {
  const s = vscode.debug.activeDebugSession;
  return s && s.type === 'envisa' ? s : undefined;
};

const focus = async (command) => {
  const s = current();
  if (!s) return;
  try {
    const answer = await s.customRequest('envisa/focus', { command });
    vscode.window.setStatusBarMessage(answer.text, 5000);
  } catch (e) {
    vscode.window.showErrorMessage(e.message);
  }
};

// The lanes of the thread that is looked at, with their variables.
class Lanes {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }
  refresh() { this.changed.fire(undefined); }
  getTreeItem(item) { return item; }
  async getChildren() {
    const s = current();
    if (!s) return [];
    let answer;
    try { answer = await s.customRequest('envisa/lanes', {}); } catch { return []; }
    return answer.lanes.map((lane) => {
      const item = new vscode.TreeItem(`${lane.lane}: ${lane.name}`);
      item.description = answer.expressions.map((e, i) => `${e} = ${lane.values[i]}`).join('  ') + (lane.active ? '' : '  (inactive)');
      item.tooltip = answer.expressions.map((e, i) => `${e} = ${lane.values[i]}`).join('\n');
      item.iconPath = new vscode.ThemeIcon(lane.focused ? 'arrow-right' : lane.active ? 'circle-filled' : 'circle-outline');
      item.command = { command: 'envisa.lane', title: 'Look at this lane', arguments: [lane.lane] };
      return item;
    });
  }
}

// Names on the lines above the one that it stopped at.
const words = /\b[A-Za-z_]\w*\b/g;
const keywords = new Set(['if', 'else', 'for', 'while', 'do', 'return', 'int', 'uint', 'float', 'char', 'uchar', 'short', 'long', 'kernel', '__kernel', 'global', '__global', 'local', '__local', 'const', 'void', 'struct', 'get_global_id', 'get_local_id', 'barrier']);
const inline = {
  provideInlineValues(document, range, context) {
    const values = [];
    const last = context.stoppedLocation.end.line;
    for (let line = Math.max(range.start.line, last - 20); line <= last; line++) {
      const text = document.lineAt(line).text.replace(/\/\/.*/, '');
      const seen = new Set();
      for (const m of text.matchAll(words)) {
        if (keywords.has(m[0]) || seen.has(m[0]) || text[m.index - 1] === '.' || text[m.index + m[0].length] === '(') continue;
        seen.add(m[0]);
        values.push(new vscode.InlineValueEvaluatableExpression(new vscode.Range(line, m.index, line, m.index + m[0].length), m[0]));
      }
    }
    return values;
  },
};

exports.activate = (context) => {
  const lanes = new Lanes();
  const add = (...all) => context.subscriptions.push(...all);
  add(vscode.window.registerTreeDataProvider('envisa.lanes', lanes));
  add(vscode.debug.registerDebugAdapterDescriptorFactory('envisa', {
    createDebugAdapterDescriptor(session) {
      const c = session.configuration;
      if (c.request === 'attach') return new vscode.DebugAdapterServer(c.port, c.host || '127.0.0.1');
      const command = vscode.workspace.getConfiguration('envisa').get('command');
      if (!c.exec) return new vscode.DebugAdapterExecutable(command, ['debug', '--dap']);
      const options = [`--debug=${c.at || 'first'}`, '--dap', ...(c.device ? ['--device', c.device] : []), ...(c.check ? ['--check'] : []), ...(c.optimised ? ['--optimised'] : [])];
      return new vscode.DebugAdapterExecutable(command, ['exec', ...options, '--', ...c.exec], { cwd: c.cwd, env: c.env });
    },
  }));
  add(vscode.debug.registerDebugConfigurationProvider('envisa', {
    resolveDebugConfiguration(folder, c) {
      if (!c.type) {
        const editor = vscode.window.activeTextEditor;
        if (!editor) return undefined;
        Object.assign(c, { type: 'envisa', request: 'launch', name: 'Debug kernel', program: editor.document.fileName });
      }
      if (c.stopAtEnd === undefined) c.stopAtEnd = true;
      if (!c.cwd && folder) c.cwd = folder.uri.fsPath;
      return c;
    },
  }));
  add(vscode.debug.registerDebugAdapterTrackerFactory('envisa', {
    createDebugAdapterTracker() {
      return { onDidSendMessage(m) { if (m.type === 'event' && ['stopped', 'invalidated', 'terminated'].includes(m.event)) lanes.refresh(); } };
    },
  }));
  for (const language of ['opencl-c', 'opencl', 'c', 'cpp']) add(vscode.languages.registerInlineValuesProvider({ language }, inline));
  add(vscode.commands.registerCommand('envisa.workItem', async () => {
    const id = await vscode.window.showInputBox({ prompt: 'Global id of the work-item: X, or X,Y,Z' });
    if (id) await focus(`work-item ${id}`);
  }));
  add(vscode.commands.registerCommand('envisa.lane', async (lane) => {
    const n = lane ?? await vscode.window.showInputBox({ prompt: 'Number of the lane' });
    if (n !== undefined) await focus(`lane ${n}`);
  }));
  add(vscode.commands.registerCommand('envisa.origin', async () => {
    const s = current();
    const editor = vscode.window.activeTextEditor;
    if (!s || !editor) return;
    const range = editor.selection.isEmpty ? editor.document.getWordRangeAtPosition(editor.selection.active) : editor.selection;
    if (!range) return;
    try {
      const answer = await s.customRequest('evaluate', { context: 'repl', expression: `origin ${editor.document.getText(range)}` });
      vscode.window.showInformationMessage(answer.result);
    } catch (e) {
      vscode.window.showErrorMessage(e.message);
    }
  }));
};
exports.deactivate = () => {};
