/* Begin with few levels where there is little room, and with the root in sight. */
(function () {
  "use strict";
  /* On a narrow screen the picture of the fewest levels is the one that can be read. */
  const narrow = window.matchMedia("(max-width: 760px)").matches;
  const picks = document.querySelectorAll("input.pick");
  if (narrow && picks.length) picks[0].checked = true;

  /* Where a picture is wider than its frame, begin with the root in the middle. */
  function centre() {
    document.querySelectorAll(".view").forEach((view) => {
      const root = view.querySelector("[data-node='0']");
      if (!root || view.scrollWidth <= view.clientWidth) return;
      const box = root.getBoundingClientRect();
      view.scrollLeft += box.left + box.width / 2 - view.getBoundingClientRect().left - view.clientWidth / 2;
    });
  }
  picks.forEach((pick) => pick.addEventListener("change", centre));
  centre();
})();
