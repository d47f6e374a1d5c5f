/* Ask the tree about a row, light up the path that the row takes.
   Texts reach the document by textContent only, so names cannot become markup. */
(function () {
  "use strict";
  const ask = JSON.parse(document.getElementById("hornbeam-data").textContent).ask;
  const fields = document.getElementById("ask-fields");
  if (!ask || !fields) return;

  function make(name, text, style) {
    const element = document.createElement(name);
    if (text != null) element.textContent = text;
    if (style) element.className = style;
    return element;
  }

  function makeInput(attribute) {
    let input;
    if (attribute.labels) {
      input = make("select");
      input.appendChild(new Option("(missing)", ""));
      attribute.labels.forEach((label, code) => input.appendChild(new Option(label, "v" + code)));
      input.value = attribute.value == null ? "" : "v" + attribute.value;
    } else {
      input = make("input");
      input.type = "number";
      input.step = "any";
      input.placeholder = "missing";
      input.value = attribute.value == null ? "" : attribute.value;
    }
    input.addEventListener("input", () => show(true));
    const label = make("label");
    const name = make("span", attribute.name);
    name.title = attribute.name;
    label.append(name, input);
    fields.appendChild(label);
    return input;
  }

  /* Which child a node sends the row to; missing values and labels not seen there follow its default. */
  function branch(node) {
    const value = inputs[node.a].value;
    if (value === "") return node.d;
    if (ask.attributes[node.a].labels) {
      const child = node.m[value.slice(1)];
      return child === undefined ? node.d : child;
    }
    const number = Number(value);
    return Number.isNaN(number) ? node.d : number <= node.t ? 0 : 1;
  }

  function show(lit) {
    const path = [0];
    const steps = make("ol");
    let node = ask.nodes[0];
    while (node.c) {
      const child = node.c + branch(node);
      const step = make("li", node.q + " \u2192 ");
      step.appendChild(make("b", ask.nodes[child].b));
      steps.appendChild(step);
      path.push(child);
      node = ask.nodes[child];
    }
    document.getElementById("ask-answer").replaceChildren(make("b", node.p), make("span", node.w, "hint"), steps);
    if (!lit) return;
    document.querySelectorAll("[data-node]").forEach((element) =>
      element.classList.toggle("on", path.includes(Number(element.getAttribute("data-node")))));
  }

  const inputs = ask.attributes.map(makeInput);
  show(false);
  document.getElementById("ask").hidden = false;
})();
